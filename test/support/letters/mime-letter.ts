/** A file of a letter. One with a Content-ID stands beside the HTML in a `multipart/related`. */
export interface LetterFile {
  readonly filename?: string;
  readonly type: string;
  readonly bytes: Buffer;
  readonly disposition?: 'attachment' | 'inline';
  /** Without angle brackets. */
  readonly contentId?: string;
}

export interface MimeLetter {
  /** Header lines as they stand, besides those of MIME; Subject and From are made where they are missing. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly html?: string;
  readonly files?: readonly LetterFile[];
}

let count = 0;

/** A message as another mail system writes it, with every body and file in base64. */
export function mimeLetter(letter: MimeLetter): Buffer {
  const fields = {
    From: 'Sender <sender@client.example>',
    To: 'Agent <agent@example.org>',
    Subject: 'A letter',
    'Message-ID': `<letter-${++count}@client.example>`,
    ...letter.headers,
    'MIME-Version': '1.0',
  };
  const head = Object.entries(fields).map(([name, value]) => (value === '' ? '' : `${name}: ${value}\r\n`));
  return Buffer.from(head.join('') + bodyOf(letter));
}

function bodyOf({ text, html, files = [] }: MimeLetter): string {
  const related = html === undefined ? [] : files.filter(({ contentId }) => contentId !== undefined);
  const others = files.filter(file => !related.includes(file));
  const shown = [
    ...(text === undefined ? [] : [leaf('text/plain; charset=utf-8', Buffer.from(text))]),
    ...(html === undefined
      ? []
      : [joined('related', [leaf('text/html; charset=utf-8', Buffer.from(html)), ...related.map(filePart)])]),
  ];
  const content = shown.length === 0 ? leaf('text/plain', Buffer.from('')) : joined('alternative', shown);
  return joined('mixed', [content, ...others.map(filePart)]);
}

function filePart({ filename, type, bytes, disposition = 'attachment', contentId }: LetterFile): string {
  const name = filename === undefined ? '' : `; filename="${filename}"`;
  const id = contentId === undefined ? '' : `\r\nContent-ID: <${contentId}>`;
  return leaf(type, bytes, `\r\nContent-Disposition: ${disposition}${name}${id}`);
}

function leaf(type: string, bytes: Buffer, more = ''): string {
  const base64 = bytes.toString('base64').replace(/.{76}/g, '$&\r\n');
  return `Content-Type: ${type}${more}\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64}\r\n`;
}

function joined(subtype: string, parts: readonly string[]): string {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const boundary = `${subtype}-${++count}`;
  const body = parts.map(part => `--${boundary}\r\n${part}\r\n`).join('');
  return `Content-Type: multipart/${subtype}; boundary=${boundary}\r\n\r\n${body}--${boundary}--\r\n`;
}
