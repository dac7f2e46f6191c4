import { blockedRecipients } from '../domain/address-policy.js';
import { fail, ok, type Result } from '../domain/errors.js';
import type { InboxId } from '../domain/ids.js';
import { getPolicy } from '../store/inboxes.js';
import type { Reader } from '../store/reader-writer.js';

/** Do the sending rules of the inbox let every recipient through (specification, Sending rule 6)? */
export function checkSendingPolicy(
  reader: Reader,
  inboxId: InboxId,
  addresses: readonly string[],
): Result<true> {
  const blocked = blockedRecipients(getPolicy(reader, inboxId, 'sending'), addresses);
  if (blocked.length === 0) return ok<true>(true);
  return fail(
    'recipient_not_allowed',
    `The sending rules of this inbox do not allow ${blocked.join(', ')}; nothing was sent. Ask the administrator to allow them, or leave them out.`,
  );
}
