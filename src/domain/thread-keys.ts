import type { ThreadIds } from './content.js';

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
