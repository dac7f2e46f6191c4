import { accessVersionTable } from './access-version.js';
import { accountEmailsTable, accountsTable } from './accounts.js';
import { accountKeysTable, apiKeyHashesTable, apiKeysTable } from './api-keys.js';
import { approvalLinksTable, claimPhrasesTable } from './approvals.js';
import { auditTable } from './audit.js';
import { blobChunksTable, blobOwnersTable, blobUploadsTable } from './blobs.js';
import { chargeSumsTable, chargesTable } from './charges.js';
import { draftsTable, draftTextsTable, inboxDraftsTable } from './drafts.js';
import { feedbackTable } from './feedback.js';
import { idempotencyTable } from './idempotency.js';
import { accountInboxesTable, addressesTable, inboxesTable, policiesTable } from './inboxes.js';
import { labelCountsTable } from './label-counts.js';
import { mailboxCountersTable, summariesTable } from './mailboxes.js';
import { contentsTable, messagesTable } from './messages.js';
import { metaTable } from './meta.js';
import { pendingTable } from './pending.js';
import { postingsTable } from './postings.js';
import { sentContentsTable, sentTable } from './sent.js';
import { signupAnswersTable } from './signup-answers.js';
import { suppressionsTable } from './suppressions.js';
import { mergedThreadsTable, threadAliasesTable } from './thread-names.js';
import { threadLinksTable, threadPartsTable } from './thread-parts.js';
import { threadActivityTable, threadsTable } from './threads.js';
import { trashNumbersTable, trashTable } from './trash.js';

/** Every table of the store, opened together. */
export const ALL_TABLES: readonly { readonly name: string }[] = [
  metaTable,
  accessVersionTable,
  accountsTable,
  accountEmailsTable,
  apiKeysTable,
  apiKeyHashesTable,
  accountKeysTable,
  inboxesTable,
  addressesTable,
  accountInboxesTable,
  policiesTable,
  suppressionsTable,
  idempotencyTable,
  pendingTable,
  messagesTable,
  summariesTable,
  contentsTable,
  mailboxCountersTable,
  postingsTable,
  labelCountsTable,
  sentTable,
  sentContentsTable,
  threadsTable,
  threadActivityTable,
  threadLinksTable,
  threadPartsTable,
  threadAliasesTable,
  draftsTable,
  draftTextsTable,
  inboxDraftsTable,
  chargesTable,
  chargeSumsTable,
  mergedThreadsTable,
  trashTable,
  trashNumbersTable,
  blobChunksTable,
  blobOwnersTable,
  blobUploadsTable,
  approvalLinksTable,
  claimPhrasesTable,
  signupAnswersTable,
  auditTable,
  feedbackTable,
];
