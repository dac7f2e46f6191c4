import { refuse } from './errors.js';
import { MAX_LINE_OCTETS, type ReplyHeaders } from './message-parts.js';

/** The Message-IDs, without brackets, that threading follows (RFC 5322 section 3.6.4). */
export interface ThreadIds {
  readonly messageId: string | null;
  readonly references: readonly string[];
  readonly inReplyTo: readonly string[];
}

/** Of a long ancestry so much is passed on (decisions, Sending, `References`). */
const MAX_IDS = 20;
/** So that `In-Reply-To: <id>` fits a line: an id cannot be folded. */
const MAX_ID_OCTETS = MAX_LINE_OCTETS - 'In-Reply-To: <>'.length;

/** Visible ASCII without angle brackets. */
const ID = /^[!-;=?-~]+$/;

/**
 * An id that can be repeated in a header (RFC 5322 section 3.6.4), given without its angle brackets. What
 * stands inside is the sender's own affair, even where it is no dot-atom with one "@": it has to be repeated as
 * it is or not at all.
 */
export function isUsableMessageId(id: string): boolean {
  return id.length <= MAX_ID_OCTETS && ID.test(id);
}

/** What the header of the message to be answered says; header text as written, or null where it has no such field. */
export interface ReplyParent {
  /** With or without angle brackets. */
  readonly messageId: string | null;
  readonly references: string | null;
  readonly inReplyTo: string | null;
}

/**
 * The header fields of an answer (RFC 5322 section 3.6.4; decisions, Sending): `In-Reply-To` is the parent's
 * Message-ID; `References` is the parent's References, or its In-Reply-To when it has none, and the
 * parent's Message-ID. What is not usable is left out, what stands twice is given once. Of more than 20 ids
 * or 998 octets the first is kept, which began the conversation, and the newest that fit.
 * @returns the fields as transmitted, or `reply_headers_unavailable`
 */
export function replyHeaders(parent: ReplyParent): ReplyHeaders {
  const parentId = usableIdsIn(parent.messageId)[0];
  if (parentId === undefined) {
    throw refuse(
      'reply_headers_unavailable',
      'The message has no usable Message-ID, so it cannot be answered; send a new message instead.',
    );
  }
  const references = usableIdsIn(parent.references);
  const ancestors = references.length > 0 ? references : usableIdsIn(parent.inReplyTo);
  const older = new Set(ancestors);
  older.delete(parentId);
  return {
    inReplyTo: `<${parentId}>`,
    references: shorten([...older, parentId])
      .map(id => `<${id}>`)
      .join(' '),
  };
}

function usableIdsIn(text: string | null): readonly string[] {
  return messageIdsIn(text ?? '', Number.POSITIVE_INFINITY).filter(isUsableMessageId);
}

/** The first and the newest that fit; the parent's own id, the last, in any case. */
function shorten(ids: readonly string[]): readonly string[] {
  const parentId = ids.at(-1) ?? '';
  const first = ids.slice(0, -1).slice(0, 1);
  const begun = lengthOf([...first, parentId]) <= MAX_LINE_OCTETS ? first : [];
  const newest = [parentId];
  let octets = lengthOf([...begun, parentId]);
  for (const id of ids.slice(begun.length, -1).reverse()) {
    octets += 1 + lengthOf([id]);
    if (begun.length + newest.length >= MAX_IDS || octets > MAX_LINE_OCTETS) break;
    newest.unshift(id);
  }
  return [...begun, ...newest];
}

/** Of the ids in their angle brackets, with a space between two. */
function lengthOf(ids: readonly string[]): number {
  return ids.reduce((octets, id) => octets + id.length + '<> '.length, -1);
}

/**
 * The Message-IDs in a header value (RFC 5322 section 3.6.4), without brackets. Phrases, comments and quoted
 * strings between them are no ids (section 4.5.4); a value without any bracket gives its words that look
 * like one. Of more than `limit` the last are kept.
 */
export function messageIdsIn(text: string, limit: number): readonly string[] {
  const ids = bracketedIdsIn(text);
  const found =
    ids.length > 0 ? ids : text.split(/[\s,;]+/).filter(word => /^[^@<>"()]+@[^@<>"()]+$/.test(word));
  return found.slice(-limit);
}

/** The ids in angle brackets alone. */
export function bracketedIdsIn(text: string): readonly string[] {
  const ids: string[] = [];
  let hasOpenQuote = false;
  let hasOpenComment = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '"' && !hasOpenQuote) {
      const end = quoteEnd(text, i);
      if (end < 0) hasOpenQuote = true;
      else i = end;
    } else if (char === '(' && !hasOpenComment) {
      const end = commentEnd(text, i);
      if (end < 0) hasOpenComment = true;
      else i = end;
    } else if (char === '<') {
      const end = text.indexOf('>', i);
      if (end < 0) break;
      // The last bracket before the end is the one that counts; folding may have left white space inside.
      const id = text.slice(text.lastIndexOf('<', end) + 1, end).replace(/\s+/g, '');
      if (id !== '') ids.push(id);
      i = end;
    }
  }
  return ids;
}

function quoteEnd(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '"') return i;
  }
  return -1;
}

function commentEnd(text: string, start: number): number {
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '(') depth++;
    else if (text[i] === ')' && --depth === 0) return i;
  }
  return -1;
}

/**
 * Of so many Message-IDs at most a message is tied to others by. A long ancestry has its beginning and its
 * nearest members in common with those of its relatives, so nothing falls apart; a message that mentions
 * thousands costs no more than one that mentions these.
 */
export const MAX_THREAD_KEYS = 32;

/** Of In-Reply-To, which has one in most mail (RFC 5322 section 3.6.4). */
const MAX_PARENTS = 8;

/**
 * The Message-IDs that tie a message to its conversation: its own, those that it answers, the first that it
 * refers to, which began the conversation, and the nearest others. They depend on the message alone, so that the
 * order of arrival makes no difference.
 */
export function threadKeys({ messageId, references, inReplyTo }: ThreadIds): string[] {
  const keys = new Set<string>();
  if (messageId !== null) keys.add(messageId);
  for (const id of inReplyTo.slice(-MAX_PARENTS)) keys.add(id);
  for (const id of references.slice(0, 1)) keys.add(id);
  for (let at = references.length - 1; at > 0 && keys.size < MAX_THREAD_KEYS; at--) {
    keys.add(references[at] ?? '');
  }
  return [...keys];
}

/**
 * A Content-ID that can be given to a file again, without its angle brackets: it is made as a Message-ID is
 * (RFC 2045 section 7), and here too what stands inside is taken as it is, since the HTML refers to it.
 */
export function isUsableContentId(id: string): boolean {
  return isUsableMessageId(id);
}
