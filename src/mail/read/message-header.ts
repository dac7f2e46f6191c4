import type { ParsedAddress, ReceivedContent } from '../../contract/messages.js';
import { bracketedIdsIn, messageIdsIn, parentIdsIn, type ThreadingIds } from '../../domain/message-ids.js';
import { asBuffer, BYTE } from '../../lib/bytes.js';
import { parseAddresses } from './address-list.js';
import { type FieldName, HeaderFields, unstructuredText, writtenText } from './header-fields.js';
import { defaultParseLimits, type ParseLimits } from './limits.js';
import { messageDate } from './message-date.js';

const { LF, CR } = BYTE;

/** The header of a message, as content shows it and as threading needs it. */
export interface MessageHeader {
  readonly fields: Omit<ReceivedContent, 'text' | 'html' | 'attachments'>;
  readonly ids: ThreadingIds;
}

/** Reads the header fields of a message; what does not parse is null, empty, or given as written. */
export function readMessageHeader(header: HeaderFields, limits: ParseLimits): MessageHeader {
  const references = identifiers(header, 'references');
  const inReplyTo = identifiers(header, 'in-reply-to');
  const messageId = messageIdOf(header.first('message-id'));
  return {
    fields: {
      from: author(addresses(header, 'from', limits)),
      sender: author(addresses(header, 'sender', limits)),
      reply_to: addresses(header, 'reply-to', limits),
      to: addresses(header, 'to', limits),
      cc: addresses(header, 'cc', limits),
      bcc: addresses(header, 'bcc', limits),
      subject: subjectOf(header),
      message_id: messageId,
      in_reply_to: inReplyTo,
      references,
      date: messageDate(header.first('date')),
    },
    ids: {
      messageId: messageIdsIn(messageId ?? '', 1)[0] ?? null,
      references: messageIdsIn(references ?? '', limits.threadIds),
      inReplyTo: parentIdsIn(inReplyTo ?? '', limits.threadIds),
    },
  };
}

/** The header of a message that is in memory; it ends at the first empty line. */
export function headerOf(message: Buffer, limits: ParseLimits = defaultParseLimits): MessageHeader {
  const header = new HeaderFields('message', limits);
  let start = 0;
  for (let end = message.indexOf(LF); end > start; end = message.indexOf(LF, start)) {
    const textEnd = message[end - 1] === CR ? end - 1 : end;
    if (textEnd === start) break;
    header.addLine(message, start, textEnd);
    start = end + 1;
  }
  return readMessageHeader(header, limits);
}

/** The addresses of all fields of that name, when there are several (RFC 5322 section 4.5). */
function addresses(header: HeaderFields, name: FieldName, limits: ParseLimits): readonly ParsedAddress[] {
  return header
    .all(name)
    .flatMap(value => parseAddresses(value, limits))
    .slice(0, limits.addresses);
}

/**
 * The first that has an address, or the first: `Doe, Jane <jane@example.com>`, without the quotes that the comma needs,
 * is a word before a comma and the mailbox that can be answered.
 */
function author(entries: readonly ParsedAddress[]): ParsedAddress | null {
  const isAddressed = (entry: ParsedAddress) =>
    'group' in entry ? entry.group.some(member => member.address !== '') : entry.address !== '';
  return entries.find(isAddressed) ?? entries[0] ?? null;
}

function subjectOf(header: HeaderFields): string | null {
  const raw = header.first('subject');
  if (raw === null) return null;
  const subject = unstructuredText(raw);
  return header.isCut('subject') ? `${subject} [the rest of this subject was cut off]`.trimStart() : subject;
}

/** The text of an identifier field as written, or null. */
function identifiers(header: HeaderFields, name: FieldName): string | null {
  return writtenText(header.all(name).join(' ')) || null;
}

/** The id in its angle brackets, without comments around it; without brackets, the header text as written. */
function messageIdOf(raw: string | null): string | null {
  const written = writtenText(raw ?? '');
  const id = bracketedIdsIn(written)[0];
  return id === undefined ? written || null : `<${id}>`;
}

/**
 * Bytes of all From fields that `FromReader` reads: enough for hundreds of addresses, read in a few milliseconds. The
 * sender waits meanwhile. The rest counts as absent.
 */
const MAX_FROM_BYTES = 32 * 1024;

/** A line whose end is still to come is held up to this many bytes; of a longer one, its name is known by then. */
const LONGEST_HELD = 2_048;

/**
 * Reads the addresses of From from the beginning of a message, before the message is parsed: receiving policies need
 * them. It uses the same header reader and limits as `parseMessage`, so both see the same addresses.
 */
export class FromReader {
  readonly #limits: ParseLimits;
  readonly #fields: HeaderFields;
  /** The beginning of a line whose end is still to come. */
  #held: Buffer = Buffer.alloc(0);
  /** The current line began in an earlier chunk, and was too long to be held. */
  #isMidLine = false;
  #isDone = false;

  constructor(limits: ParseLimits = defaultParseLimits) {
    this.#limits = { ...limits, headerFieldBytes: Math.min(limits.headerFieldBytes, MAX_FROM_BYTES) };
    this.#fields = new HeaderFields('message', this.#limits);
  }

  /** True when the header is complete: bytes after it are ignored. */
  get isDone(): boolean {
    return this.#isDone;
  }

  push(bytes: Uint8Array): void {
    if (this.#isDone) return;
    const data = this.#held.length === 0 ? asBuffer(bytes) : Buffer.concat([this.#held, bytes]);
    let start = 0;
    for (let end = data.indexOf(LF); end >= 0 && !this.#isDone; end = data.indexOf(LF, start)) {
      this.#addLine(data, start, end);
      start = end + 1;
    }
    if (data.length - start > LONGEST_HELD) {
      if (this.#isMidLine) this.#fields.continueLine(data, start, data.length);
      else this.#fields.addLine(data, start, data.length);
      this.#isMidLine = true;
      start = data.length;
    }
    this.#held = Buffer.from(data.subarray(start));
  }

  /** The addresses of every From field; groups give their members. An incomplete header ends here. */
  end(): readonly string[] {
    if (!this.#isDone) this.#addLine(this.#held, 0, this.#held.length);
    this.#isDone = true;
    const addresses: string[] = [];
    let room = MAX_FROM_BYTES;
    for (const value of this.#fields.all('from')) {
      room -= value.length;
      if (room < 0) break;
      for (const entry of parseAddresses(value, this.#limits)) {
        for (const { address } of 'group' in entry ? entry.group : [entry]) {
          if (address !== '') addresses.push(address);
        }
      }
    }
    return addresses;
  }

  /** Adds `data[start, end)`, a line without its line feed. */
  #addLine(data: Buffer, start: number, end: number): void {
    let textEnd = end;
    while (textEnd > start && data[textEnd - 1] === CR) textEnd--;
    if (this.#isMidLine) this.#fields.continueLine(data, start, textEnd);
    else if (textEnd > start) this.#fields.addLine(data, start, textEnd);
    else this.#isDone = true;
    this.#isMidLine = false;
  }
}
