import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import t, { type Test } from 'tap';
import type { AccountId } from '../../src/domain/ids.js';
import { getMeta } from '../../src/store/engine/meta.js';
import { type Reader, walkTable } from '../../src/store/engine/tables.js';
import { attachmentBlobs, messagesTable, sentTable } from '../../src/store/mailbox/messages.js';
import { storedBytesAreCounted } from '../../src/store/migrations/0005-stored-bytes-are-counted.js';
import { MIGRATIONS, openMigratedStore } from '../../src/store/open-store.js';
import { accountsTable } from '../../src/store/records/accounts.js';
import { feedbackTable } from '../../src/store/records/approvals.js';
import { draftsTable } from '../../src/store/records/drafts.js';
import { inboxesTable } from '../../src/store/records/inboxes.js';
import { storedBytes } from '../../src/store/records/storage.js';
import { verifyStore } from '../../src/store/verify/verify-store.js';
import { packageRoot } from '../support/box/postern-box.js';
import { dataDirectory } from '../unit/store/with-store.js';

function unpack(t: Test) {
  const path = dataDirectory(t);
  mkdirSync(join(path, 'store'), { recursive: true });
  const packed = readFileSync(join(packageRoot, 'test/upgrade/schema-4/store.mdb.br'));
  writeFileSync(join(path, 'store/data.mdb'), brotliDecompressSync(packed));
  return {
    path,
    mapSizeBytes: 2 ** 28,
    diskFloorBytes: 0,
    onFatal: (error: unknown) => t.fail('fatal', { error }),
  };
}

/** What each account stores, added up record by record as an operator would: a KiB each, and the bytes it names. */
function stored(reader: Reader): ReadonlyMap<AccountId, number> {
  const sums = new Map<AccountId, number>();
  const owners = new Map(
    [...walkTable(reader, inboxesTable)].map(({ value }) => [value.id, value.accountId]),
  );
  const add = (accountId: AccountId | undefined, ...sizes: (number | undefined)[]) => {
    if (accountId === undefined) return;
    const bytes = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 1024);
    sums.set(accountId, (sums.get(accountId) ?? 0) + bytes);
  };
  for (const { value } of walkTable(reader, messagesTable)) {
    const files = attachmentBlobs(value).map(({ size }) => size);
    add(owners.get(value.inboxId), value.raw.size, value.content?.size, ...files);
  }
  for (const { value } of walkTable(reader, sentTable)) {
    add(owners.get(value.inboxId), value.content.size, ...value.files.map(({ blob }) => blob.size));
  }
  for (const { value } of walkTable(reader, draftsTable)) {
    add(
      owners.get(value.inboxId),
      value.text?.size,
      value.html?.size,
      ...value.files.map(({ blob }) => blob.size),
    );
  }
  for (const { value } of walkTable(reader, feedbackTable)) {
    add(value.accountId, Buffer.byteLength(value.title ?? ''), Buffer.byteLength(value.body));
  }
  return sums;
}

t.test('what accounts store is counted, however often the count is cut off', async t => {
  const options = unpack(t);
  const counting = MIGRATIONS.indexOf(storedBytesAreCounted);
  let units = 0;
  for (let cutOff = true; cutOff; ) {
    cutOff = false;
    let begun = 0;
    const migrations = MIGRATIONS.map((migration, at) => ({
      ...migration,
      ...(at === counting && migration.more !== undefined
        ? {
            more: (...args: Parameters<NonNullable<typeof migration.more>>) => {
              // Each opening gets one unit further.
              if (begun++ > 0) {
                cutOff = true;
                throw new Error('cut off');
              }
              units += 1;
              return migration.more?.(...args) ?? null;
            },
          }
        : {}),
    }));
    await openMigratedStore(options, migrations).then(
      store => store.close(),
      error => t.match(error, { message: 'cut off' }),
    );
  }
  t.ok(units >= 4, `${units} units`);
  const store = await openMigratedStore(options);
  t.teardown(() => store.close());
  t.equal(
    store.read(reader => getMeta(reader, 'schema')),
    MIGRATIONS.length,
  );
  t.same(verifyStore(store).faults, []);
  store.read(reader => {
    const sums = stored(reader);
    t.ok(sums.size >= 2);
    for (const { value } of walkTable(reader, accountsTable)) {
      t.equal(storedBytes(reader, value.id), sums.get(value.id) ?? 0, value.email);
    }
  });
});
