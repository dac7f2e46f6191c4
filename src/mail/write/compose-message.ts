import { isUuid } from '../../domain/ids.js';
import { toMailDate } from '../../domain/instants.js';
import { isUsableMessageId } from '../../domain/message-ids.js';
import type { FileDescription, Mailbox, OutgoingFile, ReplyHeaders } from '../../domain/message-parts.js';
import { atOnce } from '../../lib/slices.js';
import { base64Length, encodeText, isTransmittable, writeBase64 } from './encode-text.js';
import { addressField, fileFields, headerField, isMessageType, subjectField } from './header-fields.js';

export interface OutgoingMessage {
  /** Id of the sent message (UUID): multipart boundaries are made from it. */
  readonly id: string;
  /** Message-ID without angle brackets. */
  readonly messageId: string;
  /** Milliseconds since the epoch. */
  readonly date: number;
  readonly from: Mailbox;
  /** There is no field for Bcc, so it can never appear in a message. */
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
  /** As transmitted, with angle brackets; null when the message is not a reply. */
  readonly replyHeaders: ReplyHeaders | null;
  /** Whether a message that answers nothing has its own id in References. */
  readonly mentionsItself: boolean;
  readonly files: readonly OutgoingFile[];
}

/**
 * The message as it is transmitted (RFC 5322, RFC 2045 to 2047, RFC 2231, RFC 2387): CRLF line ends, 7-bit bytes
 * only, no line over 998 octets. The same input always gives the same bytes, since a message may have to be composed
 * again after a crash. No value can become another field, part or value.
 * @throws Error for a value that was not checked as its type promises
 */
export function composeMessage(message: OutgoingMessage): Buffer {
  return atOnce(composeInSteps(message));
}

/** As `composeMessage`; it yields between steps that take long of a message of megabytes. */
export function* composeInSteps(message: OutgoingMessage): Generator<void, Buffer> {
  if (!isUuid(message.id)) throw new Error('an id that is no UUID');
  const out = new Pieces();
  out.add(messageFields(message));
  addPart(yield* bodyOf(message), out);
  return yield* out.join();
}

function messageFields(message: OutgoingMessage): string {
  const { from, to, cc, subject, date, messageId, replyHeaders, mentionsItself } = message;
  const references = replyHeaders?.references ?? (mentionsItself ? `<${messageId}>` : null);
  return [
    addressField('From', [from]),
    addressField('To', to),
    addressField('Cc', cc),
    subjectField(subject),
    dateField(date),
    idsField('Message-ID', `<${messageId}>`),
    replyHeaders === null ? '' : idsField('In-Reply-To', replyHeaders.inReplyTo),
    references === null ? '' : idsField('References', references),
    headerField('MIME-Version', [['1.0']]),
  ].join('');
}

/** The year has to have four digits (RFC 5322 section 3.3). */
function dateField(date: number): string {
  if (!(date >= 0 && date < Date.UTC(10_000, 0))) throw new Error('a date that no header can hold');
  return headerField('Date', [[toMailDate(date)]]);
}

/** A field of ids in angle brackets, folded only between ids. */
function idsField(name: string, text: string): string {
  const ids = text.split(' ');
  for (const id of ids) {
    if (!/^<.*>$/.test(id) || !isUsableMessageId(id.slice(1, -1))) throw new Error(`${name}: no usable id`);
  }
  return headerField(
    name,
    ids.map(id => [id]),
  );
}

type Part = Leaf | Multipart;

interface Leaf {
  /** Header fields of the part. */
  readonly fields: string;
  /** A Buffer is encoded already; other bytes are written in base64. */
  readonly body: Buffer | { readonly bytes: Uint8Array };
}

interface Multipart {
  /** `multipart/...` and its parameters, without the boundary. */
  readonly type: readonly string[];
  readonly boundary: string;
  readonly parts: readonly Part[];
}

/**
 * The structure of the body (RFC 2046 section 5.1, RFC 2387): `alternative` of text and HTML; `related` of the HTML and
 * the inline files that it shows by their Content-ID; `mixed` of all that and the other files.
 */
function* bodyOf({ id, text, html, files }: OutgoingMessage): Generator<void, Part> {
  const embedded = html === null ? [] : files.filter(isEmbedded);
  const attached = files.filter(file => !embedded.includes(file));
  const plainPart = yield* textPart('plain', text, id);
  const htmlPart =
    html === null ? [] : [multipart('related', id, [yield* textPart('html', html, id)], embedded)];
  const content = multipart('alternative', id, [plainPart, ...htmlPart]);
  return multipart('mixed', id, [content], attached);
}

function isEmbedded({ disposition, contentId }: FileDescription): boolean {
  return disposition === 'inline' && contentId !== undefined;
}

/** A multipart, or its only part when it would have one. */
function multipart(
  subtype: 'mixed' | 'related' | 'alternative',
  id: string,
  parts: readonly [Part, ...Part[]],
  files: readonly OutgoingFile[] = [],
): Part {
  if (parts.length + files.length === 1) return parts[0];
  return {
    type: subtype === 'related' ? ['multipart/related;', 'type="text/html";'] : [`multipart/${subtype};`],
    boundary: boundaryOf(subtype, id),
    parts: [...parts, ...files.map(file => filePart(file, id))],
  };
}

/** A message goes as it is where no relay has to change it, so that its reader can open it; all else goes in base64. */
function filePart(file: OutgoingFile, id: string): Leaf {
  const bytes = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.byteLength);
  return isMessageType(file.type) && isTransmittable(bytes) && !bytes.includes(id)
    ? { fields: fileFields(file, '7bit'), body: bytes }
    : { fields: fileFields(file, 'base64'), body: { bytes } };
}

/**
 * A boundary that occurs in no body: `=_` is impossible in quoted-printable and base64 (RFC 2045 section 6.7), and text
 * or a message that contains the id is not sent in 7bit. No boundary is a prefix of another.
 */
function boundaryOf(subtype: string, id: string): string {
  return `=_${subtype}_${id}`;
}

/** The charset is UTF-8 even for ASCII text: clients reply in the charset of the message they reply to. */
function* textPart(subtype: 'plain' | 'html', text: string, id: string): Generator<void, Leaf> {
  const { encoding, body } = yield* encodeText(text, id);
  return {
    fields:
      headerField('Content-Type', [[`text/${subtype};`, 'charset=utf-8']]) +
      headerField('Content-Transfer-Encoding', [[encoding]]),
    body,
  };
}

function addPart(part: Part, out: Pieces): void {
  if ('fields' in part) {
    out.add(`${part.fields}\r\n`);
    if ('bytes' in part.body) out.addBase64(part.body.bytes);
    else out.add(part.body);
    return;
  }
  const { type, boundary, parts } = part;
  out.add(`${headerField('Content-Type', [[...type, `boundary="${boundary}"`]])}\r\n`);
  for (const [index, inner] of parts.entries()) {
    // The line end before a delimiter belongs to it (RFC 2046 section 5.1.1).
    out.add(`${index === 0 ? '' : '\r\n'}--${boundary}\r\n`);
    addPart(inner, out);
  }
  out.add(`\r\n--${boundary}--\r\n`);
}

/** Collects the pieces of a message and joins them once their total length is known. */
class Pieces {
  readonly #pieces: (string | Buffer | { readonly bytes: Uint8Array })[] = [];
  #length = 0;

  /** Adds bytes, or text in ASCII. */
  add(piece: string | Buffer): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  addBase64(bytes: Uint8Array): void {
    this.#pieces.push({ bytes });
    this.#length += base64Length(bytes.length);
  }

  *join(): Generator<void, Buffer> {
    const out = Buffer.allocUnsafe(this.#length);
    let at = 0;
    for (const piece of this.#pieces) {
      if (typeof piece === 'string') at += out.write(piece, at, 'latin1');
      else if ('bytes' in piece) at = writeBase64(piece.bytes, out, at);
      else at += piece.copy(out, at);
      yield;
    }
    return out;
  }
}
