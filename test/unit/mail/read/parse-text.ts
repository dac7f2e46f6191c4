import type { ReceivedContent } from '../../../../src/contract/messages.js';
import {
  defaultParseLimits,
  type ParsedMessage,
  type ParseLimits,
} from '../../../../src/mail/read/limits.js';
import { parseMessage } from '../../../../src/mail/read/parse-message.js';
import { readEncodedFile } from '../../../support/letters/encoded-file.js';

export interface ParsedWithFiles extends Omit<ParsedMessage, 'files'> {
  /** The decoded bytes of the attachments, in their order. */
  readonly files: readonly Buffer[];
}

/** Yields `message` in pieces of the lengths that `nextLength` gives. */
export async function* piecesOf(message: Uint8Array, nextLength: () => number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < message.length; ) {
    const end = Math.min(message.length, start + nextLength());
    yield message.subarray(start, end);
    start = end;
  }
}

/** Parses a message given as text: each character is one byte (Latin-1), and each LF becomes CRLF. */
export async function parseText(
  text: string,
  limits: Partial<ParseLimits> = {},
  nextLength: () => number = () => 65_536,
): Promise<ParsedWithFiles> {
  return parseBytes(Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'latin1'), limits, nextLength);
}

export async function parseBytes(
  bytes: Uint8Array,
  limits: Partial<ParseLimits> = {},
  nextLength: () => number = () => 65_536,
): Promise<ParsedWithFiles> {
  const parsed = await parseMessage(piecesOf(bytes, nextLength), { ...defaultParseLimits, ...limits });
  const files: Buffer[] = [];
  for (const file of parsed.files) files.push(await readEncodedFile(bytes, file));
  return { ...parsed, files };
}

/** The bytes that a body stands for in the given transfer encoding. */
export async function decodeBody(
  encoding: string,
  body: Uint8Array,
  nextLength?: () => number,
): Promise<Buffer> {
  const header = `Content-Type: application/x\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`;
  const { files } = await parseBytes(Buffer.concat([Buffer.from(header), body]), {}, nextLength);
  return files[0] ?? Buffer.alloc(0);
}

/** The content of a message that has the given header and the body `Body`. */
export async function contentWithHeader(
  header: string,
  limits: Partial<ParseLimits> = {},
): Promise<ReceivedContent> {
  return (await parseText(`${header}\n\nBody\n`, limits)).content;
}

/** UTF-8 text in the form that `parseText` takes: one character for each byte. */
export function utf8(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** A multipart of the given parts, each with its own header. */
export function multipart(subtype: string, ...parts: readonly string[]): string {
  const body = parts.map(part => `--frontier\n${part}\n`).join('');
  return `Content-Type: multipart/${subtype}; boundary=frontier\n\n${body}--frontier--\n`;
}
