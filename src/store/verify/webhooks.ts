import { type AccountId, idFromBytes, type WebhookId } from '../../domain/ids.js';
import { type Reader, walkTable } from '../engine/tables.js';
import { getAccount } from '../records/accounts.js';
import { getFeed } from '../records/events.js';
import {
  accountWebhooksTable,
  getWebhook,
  MAX_OUTCOMES,
  webhookOutcomesTable,
  webhookRetriesTable,
  webhooksTable,
} from '../records/webhooks.js';
import type { Ledger } from './ledger.js';

const entry = {
  ofAccount: (account: string, id: string): string => `webhook ${id} of account ${account}`,
  retry: (id: string): string => `event that waits to be sent again to webhook ${id}`,
  outcome: (id: string): string => `outcome of webhook ${id}`,
};

/** Webhooks have an account, a place in its feed, and as many events that wait as they say. */
export function verifyWebhooks(reader: Reader, ledger: Ledger): void {
  for (const { value } of walkTable(reader, webhooksTable)) {
    const { id, accountId, place, open, outcomes } = value;
    ledger.expect(entry.ofAccount(accountId, id));
    if (open > 0) ledger.expect(entry.retry(id), open);
    if (outcomes > 0) ledger.expect(entry.outcome(id), Math.min(outcomes, MAX_OUTCOMES));
    if (getAccount(reader, accountId) === undefined) ledger.expect(`account ${accountId}`);
    if (place >= getFeed(reader, accountId).next) {
      ledger.expect(`event ${place} of account ${accountId}, where webhook ${id} stands`);
    }
  }
  for (const { key } of walkTable(reader, accountWebhooksTable)) {
    ledger.find(entry.ofAccount(idFromBytes<AccountId>(key), idFromBytes<WebhookId>(key, 16)));
  }
  for (const { key } of walkTable(reader, webhookRetriesTable))
    ledger.find(entry.retry(ownerOf(reader, key)));
  for (const { key } of walkTable(reader, webhookOutcomesTable)) {
    ledger.find(entry.outcome(ownerOf(reader, key)));
  }
}

function ownerOf(reader: Reader, key: Buffer): string {
  const id = idFromBytes<WebhookId>(key);
  return getWebhook(reader, id) === undefined ? `${id}, which is not there` : id;
}
