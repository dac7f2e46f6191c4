import { type AccountId, idFromBytes } from '../../domain/ids.js';
import { type Reader, walkTable } from '../engine/tables.js';
import { getAccount } from '../records/accounts.js';
import { eventsTable, feedsTable } from '../records/events.js';
import { pendingEntry } from './accounts-and-pending.js';
import type { Ledger } from './ledger.js';

const event = (account: string, sequence: number): string => `event ${sequence} of account ${account}`;

/** The feed of each account: every event between its ends, none outside, and an instant at which they are forgotten. */
export function verifyEvents(reader: Reader, ledger: Ledger): void {
  for (const { key, value: feed } of walkTable(reader, feedsTable)) {
    const accountId = idFromBytes<AccountId>(key);
    if (getAccount(reader, accountId) === undefined)
      ledger.find(`feed of account ${accountId}, which is not there`);
    for (let sequence = feed.first; sequence < feed.next; sequence++)
      ledger.expect(event(accountId, sequence));
    const { forgetAt } = feed;
    if (forgetAt !== null) ledger.expect(pendingEntry.expireEvents(accountId, forgetAt));
    else if (feed.first < feed.next) ledger.expect(`instant to forget events of account ${accountId}`);
  }
  for (const { key } of walkTable(reader, eventsTable)) {
    const accountId = idFromBytes<AccountId>(key);
    ledger.find(event(accountId, key.readUIntBE(16, 6)));
  }
}
