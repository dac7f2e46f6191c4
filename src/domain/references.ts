import { fail, ok, type Result } from './errors.js';
import type { ReplyHeaders } from './submission.js';
import { messageIdsIn } from './thread-ids.js';

/** Of a long ancestry so much is passed on (decisions, Sending, `References`). */
const MAX_IDS = 20;
/** Octets of the unfolded header text, as many as a line may have (RFC 5322 section 2.1.1). */
const MAX_OCTETS = 998;
/** So that `In-Reply-To: <id>` fits a line: an id cannot be folded. */
const MAX_ID_OCTETS = MAX_OCTETS - 'In-Reply-To: <>'.length;

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
export function replyHeaders(parent: ReplyParent): Result<ReplyHeaders> {
  const parentId = usableIdsIn(parent.messageId)[0];
  if (parentId === undefined) {
    return fail(
      'reply_headers_unavailable',
      'The message has no usable Message-ID, so it cannot be answered; send a new message instead.',
    );
  }
  const references = usableIdsIn(parent.references);
  const ancestors = references.length > 0 ? references : usableIdsIn(parent.inReplyTo);
  const older = new Set(ancestors);
  older.delete(parentId);
  return ok({
    inReplyTo: `<${parentId}>`,
    references: shorten([...older, parentId])
      .map(id => `<${id}>`)
      .join(' '),
  });
}

function usableIdsIn(text: string | null): readonly string[] {
  return messageIdsIn(text ?? '', Number.POSITIVE_INFINITY).filter(isUsableMessageId);
}

/** The first and the newest that fit; the parent's own id, the last, in any case. */
function shorten(ids: readonly string[]): readonly string[] {
  const parentId = ids.at(-1) ?? '';
  const first = ids.slice(0, -1).slice(0, 1);
  const begun = lengthOf([...first, parentId]) <= MAX_OCTETS ? first : [];
  const newest = [parentId];
  let octets = lengthOf([...begun, parentId]);
  for (const id of ids.slice(begun.length, -1).reverse()) {
    octets += 1 + lengthOf([id]);
    if (begun.length + newest.length >= MAX_IDS || octets > MAX_OCTETS) break;
    newest.unshift(id);
  }
  return [...begun, ...newest];
}

/** Of the ids in their angle brackets, with a space between two. */
function lengthOf(ids: readonly string[]): number {
  return ids.reduce((octets, id) => octets + id.length + '<> '.length, -1);
}
