import { type AccountId, type InboxId, newId } from '../domain/ids.js';
import { findAccountByEmail } from '../store/accounts.js';
import { findAddress, putNewInbox } from '../store/inboxes.js';
import { getMeta, putMeta } from '../store/meta.js';
import type { Writer } from '../store/reader-writer.js';
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
    const [localPart = '', domain = ''] = address.split('@');
    putNewInbox(writer, {
      id: newId<InboxId>(nowMs),
      accountId: operatorAccount(writer, address, nowMs),
      localPart,
      domain,
      name: 'Postmaster',
      senderName: null,
      createdAt: nowMs,
    });
  });
}

/** The one operator account, made at the first call; it keeps its inboxes when the mail domain changes. */
function operatorAccount(writer: Writer, address: string, nowMs: number): AccountId {
  const known = getMeta(writer, 'operator');
  if (known !== undefined) return known;
  // An admin may have given the usual email to an account of their own.
  const isTaken = findAccountByEmail(writer, address) !== undefined;
  const email = isTaken ? `operator-${newId(nowMs)}@${address.split('@')[1] ?? 'localhost'}` : address;
  const { id } = addAccount(writer, { email, nowMs, isOperator: true });
  putMeta(writer, 'operator', id);
  return id;
}
