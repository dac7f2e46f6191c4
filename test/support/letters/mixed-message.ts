import { randomBytes } from 'node:crypto';

/** A message with text, HTML and attachments, and what is to come out of it. */
export interface MixedMessage {
  readonly raw: Buffer;
  readonly text: string;
  readonly html: string;
  readonly attachments: readonly {
    readonly filename: string;
    readonly type: string;
    readonly bytes: Buffer;
  }[];
}

export function mixedMessage(): MixedMessage {
  const text = 'Grüße aus dem Text\n';
  const html = '<p>Grüße aus dem <b>HTML</b></p>\n';
  const attachments = [
    { filename: 'blob.bin', type: 'application/octet-stream', bytes: randomBytes(200_000) },
    { filename: 'Übersicht “2026” 東京.pdf', type: 'application/pdf', bytes: randomBytes(70_000) },
    { filename: 'empty.txt', type: 'text/plain', bytes: Buffer.alloc(0) },
  ];
  const parts = [
    alternative(text, html),
    ...attachments.map(({ filename, type, bytes }) =>
      [
        `Content-Type: ${type}`,
        `Content-Disposition: attachment; filename*=UTF-8''${encodeURIComponent(filename)}`,
        'Content-Transfer-Encoding: base64',
        '',
        base64(bytes),
      ].join('\r\n'),
    ),
  ];
  const raw = [
    'From: Sender <sender@client.example>',
    'To: agent@example.org',
    'Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?=',
    'Message-ID: <mixed@client.example>',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=outer',
    '',
    ...parts.map(part => `--outer\r\n${part}`),
    '--outer--',
    '',
  ].join('\r\n');
  return { raw: Buffer.from(raw), text, html, attachments };
}

function alternative(text: string, html: string): string {
  const part = (type: string, body: string) =>
    `--inner\r\nContent-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64(Buffer.from(body))}`;
  return [
    'Content-Type: multipart/alternative; boundary=inner',
    '',
    part('text/plain', text),
    part('text/html', html),
    '--inner--',
  ].join('\r\n');
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/.{76}/g, '$&\r\n');
}
