import { isUtf8 } from 'node:buffer';
import { cleanText } from '../../domain/text.js';
import { BYTE } from '../../lib/bytes.js';
import { decodeUnlabelled } from './charset.js';
import { decodeEncodedWords } from './encoded-words.js';
import type { ParseLimits } from './limits.js';

const { TAB, SPACE, COLON } = BYTE;

/** No field that is read has a longer name. */
const LONGEST_NAME = 40;

const partFieldNames = [
  'content-type',
  'content-disposition',
  'content-transfer-encoding',
  'content-id',
] as const;
const messageFieldNames = [
  ...partFieldNames,
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'bcc',
  'subject',
  'message-id',
  'in-reply-to',
  'references',
  'date',
] as const;

/** A header field that the parser reads; all others are skipped. */
export type FieldName = (typeof messageFieldNames)[number];

const partNames: ReadonlyMap<string, FieldName> = new Map(partFieldNames.map(name => [name, name]));
const messageNames: ReadonlyMap<string, FieldName> = new Map(messageFieldNames.map(name => [name, name]));

/**
 * Collects the header fields of one part (RFC 5322 section 2.2), line by line. Values have one character for each byte
 * (Latin-1), since each field has its own rules for decoding. Lines that are no header field, such as an mbox separator,
 * are skipped.
 */
export class HeaderFields {
  /** A line feed stands where a value was folded. */
  readonly #values = new Map<FieldName, string[]>();
  readonly #cut = new Set<FieldName>();
  readonly #wanted: ReadonlyMap<string, FieldName>;
  readonly #limits: ParseLimits;
  #current: { readonly name: FieldName; readonly values: string[]; isFull: boolean } | null = null;
  #bytes = 0;
  #lines = 0;

  /** @param owner a part has only the fields that describe its content; a message has From, Subject and others too */
  constructor(owner: 'message' | 'part', limits: ParseLimits) {
    this.#wanted = owner === 'message' ? messageNames : partNames;
    this.#limits = limits;
  }

  /** Adds the line `data[start, end)`, without its line end; a folded line continues the last one. */
  addLine(data: Buffer, start: number, end: number): void {
    const first = data[start];
    if (first === SPACE || first === TAB) {
      this.#append(data, start, end, '\n');
      return;
    }
    this.#current = null;
    const colon = colonIn(data, start, end);
    if (colon < 0) return;
    // Obsolete syntax allows white space before the colon (RFC 5322 section 4.5).
    const name = this.#wanted.get(data.toString('latin1', start, colon).trimEnd().toLowerCase());
    if (name === undefined || this.#lines >= this.#limits.headerLines) return;
    let values = this.#values.get(name);
    if (values === undefined) {
      values = [];
      this.#values.set(name, values);
    }
    values.push('');
    this.#current = { name, values, isFull: false };
    this.continueLine(data, colon + 1, end);
  }

  /** Adds more of the last line. */
  continueLine(data: Buffer, start: number, end: number): void {
    this.#append(data, start, end, '');
  }

  #append(data: Buffer, start: number, end: number, fold: '' | '\n'): void {
    const field = this.#current;
    if (field === null || field.isFull) return;
    const value = field.values.pop() ?? '';
    const room = Math.min(
      this.#limits.headerFieldBytes - value.length,
      this.#limits.headerBytes - this.#bytes,
    );
    const fits = end - start <= room && this.#lines < this.#limits.headerLines;
    const kept = value + fold + data.toString('latin1', start, fits ? end : start + Math.max(0, room));
    this.#lines++;
    this.#bytes += kept.length - value.length;
    field.isFull = !fits;
    if (!fits) this.#cut.add(field.name);
    field.values.push(fits ? kept : cutBetweenWords(kept));
  }

  /** The value of the first field of that name, unfolded (RFC 5322 section 2.2.3), or null. */
  first(name: FieldName): string | null {
    return this.all(name)[0] ?? null;
  }

  /** The unfolded values of all fields of that name, in their order. */
  all(name: FieldName): readonly string[] {
    return (this.#values.get(name) ?? []).map(value => value.replaceAll('\n', ''));
  }

  /** As `first`, with a line feed before the white space of each folded line. */
  firstFolded(name: FieldName): string | null {
    return this.#values.get(name)?.[0] ?? null;
  }

  /** True when a limit left out the end of a field of that name. */
  isCut(name: FieldName): boolean {
    return this.#cut.has(name);
  }
}

function colonIn(data: Buffer, start: number, end: number): number {
  const limit = Math.min(end, start + LONGEST_NAME);
  for (let i = start; i < limit; i++) if (data[i] === COLON) return i;
  return -1;
}

/**
 * Cuts before the last, incomplete word: half an address or id could be another valid one, and half an encoded word
 * would not be decoded.
 */
function cutBetweenWords(value: string): string {
  const separator = Math.max(value.lastIndexOf(','), value.lastIndexOf(' '), value.lastIndexOf('\t'));
  const encodedWord = value.lastIndexOf('?=');
  return value.slice(0, Math.max(0, separator, encodedWord < 0 ? 0 : encodedWord + '?='.length));
}

const plainAscii = /^[\t\u0020-\u007e]*$/;

/** Runs without white space and the delimiters of addresses and parameters. */
const words = /[^\s<>()[\]:;@,"]+/g;

/**
 * Decodes a raw header value, which has one character for each byte: UTF-8 (RFC 6532), or a guess. Relays and mailing
 * lists put names from several sources into one field, so that each word is decoded by itself where the whole is not
 * UTF-8.
 */
export function decodeRawValue(raw: string): string {
  if (plainAscii.test(raw)) return raw;
  const bytes = Buffer.from(raw, 'latin1');
  if (isUtf8(bytes)) return decodeUnlabelled(bytes);
  return raw.replace(words, word =>
    plainAscii.test(word) ? word : decodeUnlabelled(Buffer.from(word, 'latin1')),
  );
}

/** The text of an unstructured field such as Subject: encoded words decoded (RFC 2047), controls removed. */
export function unstructuredText(raw: string): string {
  return cleanText(decodeEncodedWords(decodeRawValue(raw)));
}

/** The text of a field as written: unfolded, each run of white space as one space, encoded words not decoded. */
export function writtenText(raw: string): string {
  return cleanText(decodeRawValue(raw)).replace(/\s+/g, ' ');
}
