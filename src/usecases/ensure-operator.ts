import { type InboxId, newId } from '../domain/ids.js';
import { findAccountByEmail } from '../store/accounts.js';
import { findAddress, putNewInbox } from '../store/inboxes.js';
import type { Store } from '../store/store.js';
import { addAccount } from './create-account.js';
import type { Clock } from './ports.js';
import { builtInPostmaster, type MailDomains } from './resolve-recipient.js';

/**
 * Makes the operator account and its postmaster inbox where they are missing: mail for `postmaster@` and
 * `abuse@` has a home from the first start (decisions, Inboxes; RFC 5321 section 4.5.1).
 */
export async function ensureOperator(deps: { store: Store; clock: Clock; mail: MailDomains }): Promise<void> {
  const address = builtInPostmaster(deps.mail);
  if (deps.store.read(reader => findAddress(reader, address)) !== undefined) return;
  await deps.store.write(writer => {
    if (findAddress(writer, address) !== undefined) return;
    const nowMs = deps.clock();
    const account =
      findAccountByEmail(writer, address) ?? addAccount(writer, { email: address, nowMs, isOperator: true });
    const [localPart = '', domain = ''] = address.split('@');
    putNewInbox(writer, {
      id: newId<InboxId>(nowMs),
      accountId: account.id,
      localPart,
      domain,
      name: 'Postmaster',
      senderName: null,
      createdAt: nowMs,
    });
  });
}
