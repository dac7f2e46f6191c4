import { existsSync, readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setsTable } from './bitmap/sets.js';
import { freeBytesAt, inMib } from './engine/disk.js';
import { type DaemonLease, getMeta, metaTable, Presence, putMeta, removeUnfinished } from './engine/meta.js';
import { Store, type StoreOptions } from './engine/store.js';
import type { Reader, Writer } from './engine/tables.js';
import { accessVersionTable } from './engine/writer.js';
import { excerptsTable } from './mailbox/excerpts.js';
import { folderCountersTable, summariesTable } from './mailbox/folders.js';
import { trashNumbersTable, trashTable } from './mailbox/index.js';
import { messagesTable, sentTable } from './mailbox/messages.js';
import { labelCountsTable } from './mailbox/postings.js';
import { roleMailTable } from './mailbox/role-mail.js';
import { initialSchema, type Migration } from './migrations/0001-initial-schema.js';
import { labelsAndTrash } from './migrations/0002-labels-and-trash.js';
import { threads } from './migrations/0003-threads.js';
import { contentsAreBlobs } from './migrations/0004-contents-are-blobs.js';
import { storedBytesAreCounted } from './migrations/0005-stored-bytes-are-counted.js';
import { attachmentsAreRanges } from './migrations/0006-attachments-are-ranges.js';
import { mailCanBeSearched } from './migrations/0007-mail-can-be-searched.js';
import { TABLES_BEFORE } from './migrations/schema-3.js';
import { makeOwnFolder, removeDeadFolders } from './own-folder.js';
import {
  accountEmailsTable,
  accountKeysTable,
  accountsTable,
  apiKeyHashesTable,
  apiKeysTable,
} from './records/accounts.js';
import {
  approvalLinksTable,
  auditTable,
  claimPhrasesTable,
  feedbackPaceTable,
  feedbackTable,
  signupAnswersTable,
} from './records/approvals.js';
import { blobChunksTable, blobOwnersTable, blobUploadsTable } from './records/blobs.js';
import { chargeSumsTable, chargesTable } from './records/charges.js';
import { deliveriesTable, sentDeliveriesTable } from './records/deliveries.js';
import { dkimKeysTable } from './records/dkim-keys.js';
import { draftsTable, inboxDraftsTable } from './records/drafts.js';
import { eventsTable, feedsTable } from './records/events.js';
import { fileUploadsTable, uploadedBytesTable } from './records/file-uploads.js';
import {
  accountInboxesTable,
  addressesTable,
  inboxCreationsTable,
  inboxesTable,
  policiesTable,
} from './records/inboxes.js';
import { idempotencyTable, pendingTable } from './records/pending.js';
import { restoredTable, searchAccountsTable, searchFoldersTable, unindexedTable } from './records/search.js';
import { storedBytesTable } from './records/storage.js';
import { stsPoliciesTable } from './records/sts-policies.js';
import {
  accountSuppressionsTable,
  suppressionCountsTable,
  suppressionsTable,
} from './records/suppressions.js';
import {
  accountWebhooksTable,
  webhookOutcomesTable,
  webhookRetriesTable,
  webhooksTable,
} from './records/webhooks.js';
import {
  mergedThreadsTable,
  threadAliasesTable,
  threadLinksTable,
  threadPartsTable,
} from './threads/names.js';
import { threadActivityTable, threadsTable } from './threads/threads.js';

export const MIGRATIONS: readonly Migration[] = [
  initialSchema,
  labelsAndTrash,
  threads,
  contentsAreBlobs,
  storedBytesAreCounted,
  attachmentsAreRanges,
  mailCanBeSearched,
];

/** The store was written by a newer program. */
export class NewerSchemaError extends Error {
  constructor(found: number, known: number) {
    super(
      `the store has schema ${found}, this program knows up to ${known}: it was written by a newer version of Postern. Install that version again, or restore a backup made before the upgrade.`,
    );
    this.name = 'NewerSchemaError';
  }
}

/** There is no room for the copy that is made before an upgrade. */
export class NoRoomForCopyError extends Error {
  constructor(path: string, neededBytes: number, freeBytes: number) {
    super(
      `this program has to upgrade the store, and would copy it to ${join(path, 'backups')} first: that takes ${inMib(neededBytes)} with what has to stay free, and ${inMib(freeBytes)} are free. Nothing was changed. Make room, or back it up elsewhere with the version that wrote it and start with store.upgrade_without_copy = true.`,
    );
    this.name = 'NoRoomForCopyError';
  }
}

/** A daemon of an older version serves the store, which this program would have to upgrade. */
export class OlderDaemonError extends Error {
  constructor(daemon: DaemonLease) {
    super(
      `a daemon of version ${daemon.version} (pid ${daemon.pid}) serves the store, and this program would upgrade it. Restart the daemon with this version; that upgrades the store.`,
    );
    this.name = 'OlderDaemonError';
  }
}

/** Opens the store as it is, whatever its schema. */
export function openStore(options: StoreOptions): Store {
  return Store.open(options, ALL_TABLES);
}

/**
 * Opens a store only to look at it; a process that writes it is not disturbed.
 * @param directory where `data.mdb` lies
 */
export function openStoreReadOnly(directory: string): Store {
  return Store.openReadOnly(directory, ALL_TABLES);
}

/**
 * Opens the store and brings it to the newest schema. A store that holds anything is copied to
 * `backups/before-schema-N-TIME` inside the data directory first.
 * @throws NewerSchemaError, OlderDaemonError, NoRoomForCopyError
 */
export async function openMigratedStore(
  options: StoreOptions,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<Store> {
  const store = openStore(options);
  try {
    await migrate(store, options, migrations);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Opens a store that was just made from a backup, and brings it to the newest schema: it needs no copy before that.
 * @param check looks at it as it is; what it throws is thrown
 */
export async function openRestored(options: StoreOptions, check: (store: Store) => void): Promise<Store> {
  const store = openStore(options);
  try {
    check(store);
    const found = store.read(reader => getMeta(reader, 'schema')) ?? 0;
    if (found > MIGRATIONS.length) throw new NewerSchemaError(found, MIGRATIONS.length);
    await takeSteps(store, found, MIGRATIONS, options.onProgress);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function migrate(
  store: Store,
  { path, diskFloorBytes, upgradesWithoutCopy = false, onProgress = () => {} }: StoreOptions,
  migrations: readonly Migration[],
): Promise<void> {
  const found = store.read(reader => getMeta(reader, 'schema')) ?? 0;
  if (found > migrations.length) throw new NewerSchemaError(found, migrations.length);
  if (found > 0 && found < migrations.length) {
    await refuseBesideDaemon(store, path);
    if (!upgradesWithoutCopy) {
      await removeDeadFolders(join(path, 'backups'), name => /^upgrade-[0-9a-f]+$/.test(name));
      checkRoomForCopy(store, path, diskFloorBytes);
      await whileGrowing(join(path, 'backups'), onProgress, () => backUp(store, path, found));
    }
  }
  await takeSteps(store, found, migrations, onProgress);
}

async function takeSteps(
  store: Store,
  found: number,
  migrations: readonly Migration[],
  onProgress: () => void = () => {},
): Promise<void> {
  for (const [index, migration] of migrations.entries()) {
    // A step that is done takes no write lock: every command opens the store, beside a daemon that writes.
    if (index >= found) await store.write(writer => begin(writer, migration, index + 1), 'settle');
    onProgress();
    if (migration.more !== undefined) await finish(store, index + 1, migration.more, onProgress);
  }
}

function begin(writer: Writer, migration: Migration, schema: number): void {
  // LMDB's write lock is the lock: another process may have migrated while this one waited for it.
  const current = getMeta(writer, 'schema') ?? 0;
  if (current >= schema) return;
  migration.up(writer, Date.now());
  putMeta(writer, 'schema', schema);
  if (migration.more !== undefined) putMeta(writer, 'unfinished', { schema, position: null });
}

/** Goes on with a step until it is complete, whoever began it; several processes may do so at once. */
async function finish(
  store: Store,
  schema: number,
  more: NonNullable<Migration['more']>,
  onProgress: () => void,
): Promise<void> {
  const isUnfinished = (reader: Reader): boolean => getMeta(reader, 'unfinished')?.schema === schema;
  while (store.read(isUnfinished)) {
    await store.write(writer => {
      const unfinished = getMeta(writer, 'unfinished');
      if (unfinished?.schema !== schema) return;
      const { position } = unfinished;
      const next = more(writer, Date.now(), position === null ? null : Buffer.from(position, 'base64'));
      if (next === null) removeUnfinished(writer);
      else putMeta(writer, 'unfinished', { schema, position: next.toString('base64') });
    }, 'settle');
    onProgress();
  }
}

/** A daemon of an older version would meet records that it cannot read. */
async function refuseBesideDaemon(store: Store, path: string): Promise<void> {
  const daemon = store.read(reader => getMeta(reader, 'daemon'));
  if (daemon !== undefined && (await Presence.isShown(path, daemon.socket))) {
    throw new OlderDaemonError(daemon);
  }
}

function checkRoomForCopy(store: Store, path: string, diskFloorBytes: number): void {
  const [neededBytes, freeBytes] = [store.usedBytes() + diskFloorBytes, freeBytesAt(path)];
  if (freeBytes < neededBytes) throw new NoRoomForCopyError(path, neededBytes, freeBytes);
}

async function backUp(store: Store, path: string, schema: number): Promise<void> {
  const backups = join(path, 'backups');
  const unfinished = await makeOwnFolder(backups, 'upgrade');
  try {
    await store.copyTo(unfinished.path);
    // Another process may have migrated meanwhile; its own copy is the one from before.
    if (store.read(reader => getMeta(reader, 'schema')) !== schema) return;
    renameSync(unfinished.path, join(backups, `before-schema-${schema + 1}-${Date.now()}`));
  } finally {
    await unfinished.remove();
  }
}

/** Removes copies before an upgrade that nobody will finish: the process that made them was killed. */
export function removeUnfinishedUpgrades(path: string): Promise<void> {
  // The second is what older versions called them.
  return removeDeadFolders(join(path, 'backups'), name => /^upgrade-|\.unfinished$/.test(name));
}

/** How often it is looked whether a copy has grown. */
const LOOK_MS = 1_000;

/** Does what writes a copy under `folder`, which LMDB does in one go, and tells whenever that has grown. */
async function whileGrowing(
  folder: string,
  onProgress: () => void,
  work: () => Promise<void>,
): Promise<void> {
  let seen = -1;
  const timer = setInterval(() => {
    const bytes = bytesUnder(folder);
    if (bytes === null) return;
    if (bytes !== seen) onProgress();
    seen = bytes;
  }, LOOK_MS).unref();
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
}

/** Null when it cannot be told now: another process may be taking a copy away. */
function bytesUnder(folder: string): number | null {
  try {
    if (!existsSync(folder)) return 0;
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return names.reduce(
      (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
  } catch {
    return null;
  }
}

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
  excerptsTable,
  folderCountersTable,
  setsTable,
  labelCountsTable,
  sentDeliveriesTable,
  sentTable,
  threadsTable,
  threadActivityTable,
  threadLinksTable,
  threadPartsTable,
  threadAliasesTable,
  deliveriesTable,
  draftsTable,
  inboxDraftsTable,
  chargesTable,
  chargeSumsTable,
  mergedThreadsTable,
  trashTable,
  trashNumbersTable,
  roleMailTable,
  blobChunksTable,
  blobOwnersTable,
  blobUploadsTable,
  approvalLinksTable,
  claimPhrasesTable,
  signupAnswersTable,
  auditTable,
  feedbackTable,
  storedBytesTable,
  inboxCreationsTable,
  feedbackPaceTable,
  stsPoliciesTable,
  accountSuppressionsTable,
  suppressionCountsTable,
  dkimKeysTable,
  searchAccountsTable,
  searchFoldersTable,
  unindexedTable,
  restoredTable,
  fileUploadsTable,
  uploadedBytesTable,
  eventsTable,
  feedsTable,
  webhooksTable,
  accountWebhooksTable,
  webhookRetriesTable,
  webhookOutcomesTable,
  ...TABLES_BEFORE,
];
