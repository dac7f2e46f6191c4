import { refuse } from './errors.js';
import { MAX_LINE_OCTETS, type ReplyHeaders } from './message-parts.js';

/** The Message-IDs, without brackets, that threading follows (RFC 5322 section 3.6.4). */
export interface ThreadingIds {
  readonly messageId: string | null;
  readonly references: readonly string[];
  readonly inReplyTo: readonly string[];
}

/** Ids in References at most, so that it does not grow with the conversation. */
const MAX_IDS = 20;
/** Longer ids do not fit in the line `In-Reply-To: <id>`, and an id cannot be folded. */
const MAX_ID_OCTETS = MAX_LINE_OCTETS - 'In-Reply-To: <>'.length;

/** Visible ASCII without angle brackets. */
const ID = /^[!-;=?-~]+$/;

/**
 * True when an id, given without its angle brackets, can be written to a header (RFC 5322 section 3.6.4). Ids that
 * break the grammar are accepted too, such as one without "@": many senders make them, and an id only serves when it
 * is repeated exactly.
 */
export function isUsableMessageId(id: string): boolean {
  return id.length <= MAX_ID_OCTETS && ID.test(id);
}

/** Header fields of the message that is answered, as written; null for a field that is absent. */
export interface ReplyParent {
  /** With or without its angle brackets. */
  readonly messageId: string | null;
  readonly references: string | null;
  readonly inReplyTo: string | null;
}

/**
 * The header fields of a reply (RFC 5322 section 3.6.4): `In-Reply-To` is the parent's Message-ID; `References` is the
 * parent's References, or its In-Reply-To when it has none, followed by its Message-ID. Ids that are not usable are
 * left out, and duplicates too. Of more than `MAX_IDS` ids or `MAX_LINE_OCTETS` octets, the first id, which began
 * the conversation, and the newest that fit are kept.
 * @returns the values as transmitted, ids in angle brackets
 * @throws `reply_headers_unavailable` when the parent has no usable Message-ID
 */
export function replyHeaders(parent: ReplyParent): ReplyHeaders {
  const parentId = usable(messageIdsIn(parent.messageId ?? ''))[0];
  if (parentId === undefined) {
    throw refuse(
      'reply_headers_unavailable',
      'The message has no usable Message-ID, so it cannot be answered; send a new message instead.',
    );
  }
  const references = usable(messageIdsIn(parent.references ?? ''));
  const ancestors = references.length > 0 ? references : usable(parentIdsIn(parent.inReplyTo ?? ''));
  const older = new Set(ancestors);
  older.delete(parentId);
  return {
    inReplyTo: `<${parentId}>`,
    references: shorten([...older, parentId])
      .map(id => `<${id}>`)
      .join(' '),
  };
}

function usable(ids: readonly string[]): readonly string[] {
  return ids.filter(isUsableMessageId);
}

/** Keeps the first id and the newest that fit; the last one, the parent's own, always stays. */
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

/** Octets of the ids in angle brackets, with a space between two. */
function lengthOf(ids: readonly string[]): number {
  return ids.reduce((octets, id) => octets + id.length + '<> '.length, -1);
}

/**
 * The Message-IDs in a header value (RFC 5322 section 3.6.4), without brackets. Phrases, comments and quoted strings
 * between them are skipped (section 4.5.4). When nothing is in brackets, the words that look like an id are taken.
 * @param limit of more ids than this, the last are kept
 */
export function messageIdsIn(text: string, limit = Number.POSITIVE_INFINITY): readonly string[] {
  const ids = bracketedIdsIn(text);
  return (ids.length > 0 ? ids : bareIdsIn(text)).slice(-limit);
}

/**
 * The Message-IDs in an In-Reply-To field, without brackets. Older programs write prose there, such as "Your message to
 * <list@example.org> of Monday <id>": where other text stands before an id, only the last one counts, or an address in
 * the prose would join everybody who wrote to it.
 * @param limit of more ids than this, the last are kept
 */
export function parentIdsIn(text: string, limit = Number.POSITIVE_INFINITY): readonly string[] {
  const { ids, isProse } = scanIds(text);
  if (ids.length > 0) return ids.slice(isProse ? -1 : -limit);
  const bare = bareIdsIn(text);
  return bare.slice(bare.length < wordsOf(text).length ? -1 : -limit);
}

/** The words that look like an id, of a value in which nothing is in brackets. */
function bareIdsIn(text: string): readonly string[] {
  return wordsOf(text).filter(word => /^[^@<>"()]+@[^@<>"()]+$/.test(word));
}

function wordsOf(text: string): readonly string[] {
  return text.split(/[\s,;]+/).filter(word => word !== '');
}

/** Only the ids in angle brackets, without them. */
export function bracketedIdsIn(text: string): readonly string[] {
  return scanIds(text).ids;
}

interface ScannedIds {
  readonly ids: readonly string[];
  /** True when something other than comments, white space and separators stands before an id. */
  readonly isProse: boolean;
}

function scanIds(text: string): ScannedIds {
  const ids: string[] = [];
  let isProse = false;
  let hasText = false;
  let hasOpenQuote = false;
  let hasOpenComment = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '"' && !hasOpenQuote) {
      const end = quoteEnd(text, i);
      hasText = true;
      if (end < 0) hasOpenQuote = true;
      else i = end;
    } else if (char === '(' && !hasOpenComment) {
      const end = commentEnd(text, i);
      if (end < 0) hasOpenComment = true;
      else i = end;
    } else if (char === '<') {
      const end = text.indexOf('>', i);
      if (end < 0) break;
      // The last `<` before the `>` opens the id. Folding may have left white space in it.
      const id = text.slice(text.lastIndexOf('<', end) + 1, end).replace(/\s+/g, '');
      if (id !== '') {
        ids.push(id);
        isProse ||= hasText;
      }
      i = end;
    } else if (!/[\s,;>]/.test(char ?? '')) {
      hasText = true;
    }
  }
  return { ids, isProse };
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
 * Message-IDs by which a message is joined to its conversation, at most. It bounds the cost of a message that
 * refers to thousands. Long conversations still hold together: `threadKeys` takes the first id and the nearest,
 * which other messages of the conversation have too.
 */
export const MAX_THREAD_KEYS = 32;

/** Ids taken from In-Reply-To; nearly all mail has one (RFC 5322 section 3.6.4). */
const MAX_PARENTS = 8;

/**
 * The Message-IDs that join a message to its conversation: its own, those it answers, the first of References, which
 * began the conversation, and the last of References. They depend on the message alone, so the order in which
 * messages arrive makes no difference.
 */
export function threadKeys({ messageId, references, inReplyTo }: ThreadingIds): string[] {
  const keys = new Set<string>();
  if (messageId !== null) keys.add(messageId);
  for (const id of inReplyTo.slice(-MAX_PARENTS)) keys.add(id);
  for (const id of references.slice(0, 1)) keys.add(id);
  for (let at = references.length - 1; at > 0 && keys.size < MAX_THREAD_KEYS; at--) {
    keys.add(references[at] ?? '');
  }
  return [...keys];
}

/** As a Message-ID, but with spaces inside. */
const CONTENT_ID = /^[!-;=?-~](?:[ -;=?-~]*[!-;=?-~])?$/;

/**
 * True when a Content-ID, given without its angle brackets, can be written to a header again. It has the syntax of a
 * Message-ID (RFC 2045 section 7), and it too only serves when it is repeated exactly, spaces inside included: the HTML
 * refers to it.
 */
export function isUsableContentId(id: string): boolean {
  return id.length <= MAX_ID_OCTETS && CONTENT_ID.test(id);
}
