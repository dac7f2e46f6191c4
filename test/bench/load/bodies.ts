import { randomBytes } from 'node:crypto';

/** Messages as they go over the wire, from the header to the line that ends DATA. */
export type BodyKind =
  /** One text part of ordinary lines. */
  | 'text'
  /** A short text and one base64 attachment that makes up the size. */
  | 'attachment'
  /** Only lines that begin with a dot: the most work that DATA can cause. */
  | 'dots';

const LINE = 'The quick brown fox jumps over the lazy dog while the five boxing wizards wait\r\n';
const END = '.\r\n';

/** About `bytes` long. */
export function buildMessage(kind: BodyKind, bytes: number): Buffer {
  const head = [
    'From: Sender <sender@load.test>',
    'To: Agent <agent@bench.example>',
    `Subject: ${bytes} bytes of ${kind}`,
    'Date: Mon, 01 Sep 2025 10:00:00 +0000',
    `Message-ID: <${randomBytes(8).toString('hex')}@load.test>`,
    'MIME-Version: 1.0',
    '',
  ].join('\r\n');
  if (kind === 'attachment') return Buffer.from(`${head}${multipart(bytes)}${END}`, 'latin1');
  const line = kind === 'dots' ? '..\r\n' : LINE;
  const text = line.repeat(Math.max(1, Math.floor((bytes - head.length) / line.length)));
  return Buffer.from(`${head}Content-Type: text/plain; charset=utf-8\r\n\r\n${text}${END}`, 'latin1');
}

function multipart(bytes: number): string {
  // 57 octets make a line of 76 characters and a line end.
  const octets = randomBytes(Math.floor((bytes / 78) * 57));
  const base64 = octets.toString('base64').replace(/.{76}/g, '$&\r\n');
  return [
    'Content-Type: multipart/mixed; boundary="=bench="',
    '',
    '--=bench=',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'See the file.',
    '--=bench=',
    'Content-Type: application/octet-stream; name="data.bin"',
    'Content-Disposition: attachment; filename="data.bin"',
    'Content-Transfer-Encoding: base64',
    '',
    base64,
    '--=bench=--',
    '',
  ].join('\r\n');
}
