import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { AccountId, InboxId } from '../../../src/domain/ids.js';
import { joinWords, messageWordsAtOnce } from '../../../src/domain/message-words.js';
import { parseSearch } from '../../../src/domain/search-words.js';
import { searchFolder } from '../../../src/search/word-threads.js';
import { noteWords } from '../../../src/store/records/search.js';
import { type House, withHouse } from '../usecases/with-house.js';
import { found, rawFiles, withIndex } from './with-index.js';

async function write(house: House, inboxId: InboxId, from: number, texts: readonly string[]): Promise<void> {
  await house.store.write(writer => {
    for (const [at, text] of texts.entries()) {
      const words = joinWords(messageWordsAtOnce({ subject: 'Note', text, html: null }));
      noteWords(writer, { inboxId, kind: 'received', seq: from + at }, words, house.now.ms);
    }
  });
}

t.test('neither hits nor scores of an account change with the mail of another', async t => {
  const house = await withHouse(t);
  const { index, feed } = withIndex(t, house);
  const other = await house.addAccount('other@elsewhere.example');
  const [mine, theirs] = [await house.addInbox('mine'), await house.addInbox('theirs', other)];
  await write(house, mine, 1, ['apple pie', 'apple tree and apple pie', 'a tree', 'secret plum']);
  await feed();
  const ask = (accountId: AccountId, query: string) =>
    index.rank({ accountId, folderNumber: 0, terms: parseSearch(query), from: 1, to: 10_000, among: 100 });
  const before = await ask(house.account, 'apple');
  t.match(before, { status: 'found', seqs: Uint32Array.of(2, 1) });

  await write(
    house,
    theirs,
    1,
    Array.from({ length: 300 }, (_, at) => `apple ${at} pear`),
  );
  await feed();
  t.strictSame(await ask(house.account, 'apple'), before);
  t.strictSame(await found(index, house.store, other, { inboxId: theirs, kind: 'received' }, 'plum'), []);
  t.strictSame(
    await found(index, house.store, house.account, { inboxId: mine, kind: 'received' }, 'pear'),
    [],
  );
  for (const [name, bytes] of rawFiles(house.store)) {
    if (name.startsWith(other)) t.notOk(bytes.includes('secret'), name);
  }
});

t.test('a file of another account in the place of one is not searched', async t => {
  const house = await withHouse(t);
  const other = await house.addAccount('other@elsewhere.example');
  const [mine, theirs] = [await house.addInbox('mine'), await house.addInbox('theirs', other)];
  const first = withIndex(t, house);
  await write(house, mine, 1, ['mine']);
  await write(house, theirs, 1, ['theirs']);
  await first.feed();
  await first.stop();
  const file = (id: AccountId) => join(searchFolder(house.store.path), `${id}.index`);
  for (const suffix of ['-wal', '-shm']) rmSync(`${file(house.account)}${suffix}`, { force: true });
  copyFileSync(file(other), file(house.account));

  const { index, feed, lost } = withIndex(t, house);
  const folder = { inboxId: mine, kind: 'received' } as const;
  t.equal(await found(index, house.store, house.account, folder, 'theirs'), 'unavailable');
  await feed();
  t.match(lost, [/another account/]);
  t.strictSame(await found(index, house.store, house.account, folder, 'theirs'), []);
});
