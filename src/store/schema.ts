import { accountEmailsTable, accountsTable } from './accounts.js';
import { accountKeysTable, apiKeyHashesTable, apiKeysTable } from './api-keys.js';
import { blobChunksTable, blobOwnersTable, blobUploadsTable } from './blobs.js';
import { idempotencyTable } from './idempotency.js';
import { accountInboxesTable, addressesTable, inboxesTable, policiesTable } from './inboxes.js';
import { labelCountsTable } from './label-counts.js';
import { mailboxCountersTable, summariesTable } from './mailboxes.js';
import { contentsTable, messagesTable } from './messages.js';
import { metaTable } from './meta.js';
import { pendingTable } from './pending.js';
import { postingsTable } from './postings.js';
import { trashNumbersTable, trashTable } from './trash.js';

/** Every table of the store, opened together. */
export const ALL_TABLES: readonly { readonly name: string }[] = [
  metaTable,
  accountsTable,
  accountEmailsTable,
  apiKeysTable,
  apiKeyHashesTable,
  accountKeysTable,
  inboxesTable,
  addressesTable,
  accountInboxesTable,
  policiesTable,
  idempotencyTable,
  pendingTable,
  messagesTable,
  summariesTable,
  contentsTable,
  mailboxCountersTable,
  postingsTable,
  labelCountsTable,
  trashTable,
  trashNumbersTable,
  blobChunksTable,
  blobOwnersTable,
  blobUploadsTable,
];
