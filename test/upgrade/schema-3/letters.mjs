// Messages whose bytes compress well, and of which no piece is like another: lines that are numbered.

/** So many bytes: lines of 57, which are 76 in base64, each with its number. */
export function lines(name, bytes, end) {
  const parts = [];
  for (let n = 0, size = 0; size < bytes; n++, size += 57) {
    parts.push(`${name} line ${n} `.padEnd(57 - end.length, '.') + end);
  }
  return parts.join('').slice(0, bytes);
}

export function file(filename, bytes) {
  return {
    filename,
    type: 'text/plain',
    disposition: 'attachment',
    content: Buffer.from(lines(filename, bytes, '\n')),
  };
}

/** The same as a request has it. */
export function attached(name, bytes) {
  const { filename, type, content } = file(name, bytes);
  return { filename, type, content: content.toString('base64') };
}

/** A message to send. */
export function to(address, more) {
  return { to: [{ address }], subject: 'Notes', text: 'Here they are.', ...more };
}

/** @param references Message-IDs, the last one of what it answers */
export function textLetter(id, text, references = []) {
  const ancestry =
    references.length === 0
      ? []
      : [`In-Reply-To: ${references.at(-1)}`, `References: ${references.join(' ')}`];
  return [...head(id, `About ${id}`), ...ancestry, 'Content-Type: text/plain; charset=utf-8', '', text].join(
    '\r\n',
  );
}

export function letter(id, { text, html, files = [] }) {
  const bodies = [body('plain', text), ...(html === undefined ? [] : [body('html', html)])];
  const parts = [multipart('alternative', bodies), ...files.map(filePart)];
  return [...head(id, `=?UTF-8?Q?Gr=C3=BC=C3=9Fe?= of ${id}`), multipart('mixed', parts)].join('\r\n');
}

function head(id, subject) {
  return [
    'From: =?UTF-8?Q?S=C3=A9nder?= <sender@client.example>',
    'To: Ann <ann@example.org>',
    'Cc: Team: dan@elsewhere.example, eve@elsewhere.example;',
    `Subject: ${subject}`,
    `Message-ID: <${id}@client.example>`,
    'Date: Mon, 02 Mar 2026 10:00:00 +0100',
    'MIME-Version: 1.0',
  ];
}

function multipart(subtype, parts) {
  const inner = parts.map(part => `--${subtype}\r\n${part}\r\n`).join('');
  return `Content-Type: multipart/${subtype}; boundary=${subtype}\r\n\r\n${inner}--${subtype}--\r\n`;
}

function body(subtype, text) {
  return `Content-Type: text/${subtype}; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${text}`;
}

function filePart({ filename, type, contentId, content }) {
  return [
    `Content-Type: ${type}`,
    `Content-Disposition: attachment; filename*=UTF-8''${encodeURIComponent(filename)}`,
    ...(contentId === undefined ? [] : [`Content-ID: <${contentId}>`]),
    'Content-Transfer-Encoding: base64',
    '',
    content.toString('base64').replace(/.{76}/g, '$&\r\n'),
  ].join('\r\n');
}
