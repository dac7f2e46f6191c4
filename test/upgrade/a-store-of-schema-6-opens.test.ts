import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import t from 'tap';
import { type MessageWords, messageWordsAtOnce } from '../../src/domain/message-words.js';
import { parseSearch } from '../../src/domain/search-words.js';
import { getMeta } from '../../src/store/engine/meta.js';
import { walkTable } from '../../src/store/engine/tables.js';
import { type MessageRecord, messagesTable, sentTable } from '../../src/store/mailbox/messages.js';
import { mailCanBeSearched } from '../../src/store/migrations/0007-mail-can-be-searched.js';
import { MIGRATIONS, openMigratedStore } from '../../src/store/open-store.js';
import { readBlobInto } from '../../src/store/records/blobs.js';
import { inboxesTable } from '../../src/store/records/inboxes.js';
import { searchStateOf } from '../../src/store/records/search.js';
import { verifyStore } from '../../src/store/verify/verify-store.js';
import { readSearchStatus } from '../../src/usecases/search/search-admin.js';
import { packageRoot } from '../support/box/postern-box.js';
import { fits } from '../support/search/naive-words.js';
import { found, withIndex } from '../unit/search/with-index.js';
import { dataDirectory } from '../unit/store/with-store.js';

t.test('all mail that was there can be searched once its index is made', async t => {
  const path = dataDirectory(t);
  mkdirSync(join(path, 'store'), { recursive: true });
  const packed = readFileSync(join(packageRoot, 'test/upgrade/schema-6/store.mdb.br'));
  writeFileSync(join(path, 'store/data.mdb'), brotliDecompressSync(packed));
  const options = { path, mapSizeBytes: 2 ** 28, diskFloorBytes: 0 };
  const schema = MIGRATIONS.indexOf(mailCanBeSearched);
  const cutOff = {
    ...mailCanBeSearched,
    more: () => {
      throw new Error('cut off');
    },
  };
  await t.rejects(openMigratedStore(options, [...MIGRATIONS.slice(0, schema), cutOff]), {
    message: 'cut off',
  });
  const store = await openMigratedStore(options);
  t.teardown(() => store.close());
  t.equal(
    store.read(reader => getMeta(reader, 'schema')),
    MIGRATIONS.length,
  );
  t.same(verifyStore(store).faults, []);
  const owners = new Map(
    store.read(reader =>
      [...walkTable(reader, inboxesTable)].map(({ value }) => [value.id, value.accountId]),
    ),
  );
  const messages: MessageRecord[] = store.read(reader => [
    ...[...walkTable(reader, messagesTable)].map(({ value }) => value),
    ...[...walkTable(reader, sentTable)].map(({ value }) => value),
  ]);
  const accounts = new Set(messages.flatMap(({ inboxId }) => owners.get(inboxId) ?? []));
  for (const id of accounts)
    t.equal(
      store.read(reader => searchStateOf(reader, id)),
      'rebuilding',
    );

  const { index, feed } = withIndex(t, { store, clock: Date.now });
  await feed();
  t.match(readSearchStatus({ store, clock: Date.now }), {
    accounts: accounts.size,
    waiting: 0,
    rebuilding: [],
  });
  const wordsOf = (message: MessageRecord): MessageWords | null => {
    if (message.content === null) return null;
    const bytes = Buffer.alloc(message.content.size);
    readBlobInto(store, message.content, bytes);
    const { text = null, html = null } = JSON.parse(bytes.toString());
    return messageWordsAtOnce({ subject: message.subject, text, html });
  };
  let hits = 0;
  for (const [inboxId, accountId] of owners) {
    for (const kind of ['received', 'sent'] as const) {
      const of = messages.filter(message => message.inboxId === inboxId && message.kind === kind);
      const known = of.map(message => ({ seq: message.seq, words: wordsOf(message) }));
      const some = new Set(
        known.flatMap(({ words }) => [...(words?.subject ?? []), ...(words?.body ?? []).slice(0, 5)]),
      );
      for (const word of some) {
        const terms = parseSearch(word);
        const expected = known.filter(
          ({ words }) => words !== null && fits([words.subject, words.body], terms),
        );
        const seqs = expected.map(({ seq }) => seq).sort((a, b) => b - a);
        t.strictSame(await found(index, store, accountId, { inboxId, kind }, word), seqs, word);
        hits += seqs.length;
      }
    }
  }
  t.ok(hits > 50, `${hits} hits`);
  t.same(verifyStore(store).faults, []);
});
