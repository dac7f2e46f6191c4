import { isUuid } from '../../domain/ids.js';
import { toMailDate } from '../../domain/instants.js';
import { isUsableMessageId } from '../../domain/message-ids.js';
import type { FileDescription, Mailbox, OutgoingFile, ReplyHeaders } from '../../domain/message-parts.js';
import { base64Length, encodeText, writeBase64 } from './encode-text.js';
import { addressField, fileFields, headerField, subjectField } from './header-fields.js';

export interface OutgoingMessage {
  /** Resource id (UUID): boundaries are made of it. */
  readonly id: string;
  /** Message-ID without brackets. */
  readonly messageId: string;
  /** Milliseconds since the epoch. */
  readonly date: number;
  readonly from: Mailbox;
  /** Bcc is never given, so that it cannot appear. */
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
  /** As transmitted, with brackets; null when it answers nothing. */
  readonly replyHeaders: ReplyHeaders | null;
  readonly files: readonly OutgoingFile[];
}

/**
 * The message as it is transmitted (RFC 5322, RFC 2045 to 2047, RFC 2231, RFC 2387): CRLF line ends, 7-bit
 * bytes only, no line over 998 octets. The same input gives the same bytes, since a message may have to be
 * composed again after a crash. Nothing a value holds can become a field, a part or another value: one that
 * breaks the promises of its type makes it throw.
 */
export function composeMessage(message: OutgoingMessage): Buffer {
  if (!isUuid(message.id)) throw new Error('an id that is no UUID');
  const out = new Pieces();
  out.add(messageFields(message));
  addPart(bodyOf(message), out);
  return out.join();
}

function messageFields(message: OutgoingMessage): string {
  const { from, to, cc, subject, date, messageId, replyHeaders } = message;
  return [
    addressField('From', [from]),
    addressField('To', to),
    addressField('Cc', cc),
    subjectField(subject),
    dateField(date),
    idsField('Message-ID', `<${messageId}>`),
    replyHeaders === null ? '' : idsField('In-Reply-To', replyHeaders.inReplyTo),
    replyHeaders === null ? '' : idsField('References', replyHeaders.references),
    headerField('MIME-Version', [['1.0']]),
  ].join('');
}

/** Years of four digits, as RFC 5322 section 3.3 wants them. */
function dateField(date: number): string {
  if (!(date >= 0 && date < Date.UTC(10_000, 0))) throw new Error('a date that no header can hold');
  return headerField('Date', [[toMailDate(date)]]);
}

/** Ids in angle brackets, folded between two. */
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
  /** Its header fields. */
  readonly fields: string;
  /** Encoded, or bytes to be written in base64. */
  readonly body: Buffer | { readonly bytes: Uint8Array };
}

interface Multipart {
  /** `multipart/...` with parameters other than the boundary. */
  readonly type: readonly string[];
  readonly boundary: string;
  readonly parts: readonly Part[];
}

/**
 * The text alone, or beside the HTML; inline files that the HTML can show by a Content-ID with the HTML, all
 * other files around (RFC 2046 section 5.1, RFC 2387).
 */
function bodyOf({ id, text, html, files }: OutgoingMessage): Part {
  const embedded = html === null ? [] : files.filter(isEmbedded);
  const attached = files.filter(file => !embedded.includes(file));
  const htmlPart = html === null ? [] : [multipart('related', id, [textPart('html', html, id)], embedded)];
  const content = multipart('alternative', id, [textPart('plain', text, id), ...htmlPart]);
  return multipart('mixed', id, [content], attached);
}

function isEmbedded({ disposition, contentId }: FileDescription): boolean {
  return disposition === 'inline' && contentId !== undefined;
}

/** The one part where there is no other. */
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
    parts: [...parts, ...files.map(file => ({ fields: fileFields(file), body: { bytes: file.bytes } }))],
  };
}

/**
 * `=_` can stand neither in quoted-printable nor in base64 (RFC 2045 section 6.7), and text that holds the id
 * is not sent as it stands: no boundary can occur in a body. None is the beginning of another one.
 */
function boundaryOf(subtype: string, id: string): string {
  return `=_${subtype}_${id}`;
}

/** Labelled UTF-8 though it be ASCII: clients answer in the charset of what they answer. */
function textPart(subtype: 'plain' | 'html', text: string, id: string): Leaf {
  const { encoding, body } = encodeText(text, id);
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

/** What a message is made of, joined once their length is known. */
class Pieces {
  readonly #pieces: (string | Buffer | { readonly bytes: Uint8Array })[] = [];
  #length = 0;

  /** A string is ASCII. */
  add(piece: string | Buffer): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  addBase64(bytes: Uint8Array): void {
    this.#pieces.push({ bytes });
    this.#length += base64Length(bytes.length);
  }

  join(): Buffer {
    const out = Buffer.allocUnsafe(this.#length);
    let at = 0;
    for (const piece of this.#pieces) {
      if (typeof piece === 'string') at += out.write(piece, at, 'latin1');
      else if ('bytes' in piece) at = writeBase64(piece.bytes, out, at);
      else at += piece.copy(out, at);
    }
    return out;
  }
}
