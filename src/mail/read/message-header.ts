import type { ParsedAddress, ReceivedContent } from '../../contract/messages.js';
import type { ThreadIds } from '../../domain/message-ids.js';
import { bracketedIdsIn, messageIdsIn } from '../../domain/message-ids.js';
import { parseAddresses } from './address-list.js';
import { type FieldName, type HeaderFields, unstructuredText, writtenText } from './header-fields.js';
import { defaultParseLimits, type ParseLimits } from './limits.js';
import { messageDate } from './message-date.js';
import { PartSplitter } from './part-splitter.js';

/** What the header of a message says of the message, as opposed to its bodies. */
export interface MessageHeader {
  readonly fields: Omit<ReceivedContent, 'text' | 'html' | 'attachments'>;
  readonly ids: ThreadIds;
}

export function readMessageHeader(header: HeaderFields, limits: ParseLimits): MessageHeader {
  const references = identifiers(header, 'references');
  const inReplyTo = identifiers(header, 'in-reply-to');
  const messageId = messageIdOf(header.first('message-id'));
  const subject = header.first('subject');
  return {
    fields: {
      from: addresses(header, 'from', limits)[0] ?? null,
      sender: addresses(header, 'sender', limits)[0] ?? null,
      reply_to: addresses(header, 'reply-to', limits),
      to: addresses(header, 'to', limits),
      cc: addresses(header, 'cc', limits),
      bcc: addresses(header, 'bcc', limits),
      subject: subject === null ? null : unstructuredText(subject, limits.encodedWords),
      message_id: messageId,
      in_reply_to: inReplyTo,
      references,
      date: messageDate(header.first('date')),
    },
    ids: {
      messageId: messageIdsIn(messageId ?? '', 1)[0] ?? null,
      references: messageIdsIn(references ?? '', limits.threadIds),
      inReplyTo: messageIdsIn(inReplyTo ?? '', limits.threadIds),
    },
  };
}

/** Of a field that stands twice all addresses count (RFC 5322 section 4.5). */
function addresses(header: HeaderFields, name: FieldName, limits: ParseLimits): readonly ParsedAddress[] {
  return header
    .all(name)
    .flatMap(value => parseAddresses(value, limits))
    .slice(0, limits.addresses);
}

function identifiers(header: HeaderFields, name: FieldName): string | null {
  return writtenText(header.all(name).join(' ')) || null;
}

/** The id in its brackets, without comments around it; without brackets the header text as it stands. */
function messageIdOf(raw: string | null): string | null {
  const written = writtenText(raw ?? '');
  const id = bracketedIdsIn(written)[0];
  return id === undefined ? written || null : `<${id}>`;
}

/**
 * Bytes of From that are read, all fields of that name together: hundreds of mailboxes, and a few milliseconds
 * where others wait. What lies beyond counts as absent.
 */
const MAX_FROM_BYTES = 32 * 1024;

/**
 * Reads the mailboxes of From out of the beginning of a message, for whoever must know them before the message
 * is parsed. It is the header half of `parseMessage`, limits included, so that both see the same: what those
 * leave out is not there for either.
 */
export class FromReader {
  readonly #limits: ParseLimits;
  readonly #splitter: PartSplitter;
  #header: HeaderFields | null = null;

  constructor(limits: ParseLimits = defaultParseLimits) {
    this.#limits = { ...limits, headerFieldBytes: Math.min(limits.headerFieldBytes, MAX_FROM_BYTES) };
    const ignore = (): void => {};
    this.#splitter = new PartSplitter(
      {
        onHeader: fields => {
          this.#header ??= fields;
          return null;
        },
        onBody: ignore,
        onEnd: ignore,
      },
      this.#limits,
    );
  }

  /** The header is complete: nothing that follows matters. */
  get isDone(): boolean {
    return this.#header !== null;
  }

  push(bytes: Uint8Array): void {
    if (!this.isDone) this.#splitter.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }

  /** The addresses of every From field, members of groups included; what came last ends the header. */
  end(): readonly string[] {
    if (!this.isDone) this.#splitter.end();
    const addresses: string[] = [];
    let room = MAX_FROM_BYTES;
    for (const value of this.#header?.all('from') ?? []) {
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
}
