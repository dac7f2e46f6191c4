import { randomBytes } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { searchFolder } from '../../../src/search/word-threads.js';
import { getSearch, searchAccountsTable, searchStateOf } from '../../../src/store/records/search.js';
import { verifyStore } from '../../../src/store/verify/verify-store.js';
import { recoverIndexes } from '../../../src/usecases/search/recover-indexes.js';
import { readSearchStatus, rebuildIndexes } from '../../../src/usecases/search/search-admin.js';
import { withHouse } from '../usecases/with-house.js';
import { parsed, index as publish } from '../usecases/with-parser.js';
import { putSent } from '../usecases/with-sent.js';
import { type FedIndex, found, foundBeside, withIndex } from './with-index.js';

async function withMail(t: Test) {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  for (const text of ['one fish', 'two fish', 'red herring']) {
    await publish(house, await house.receive('raw', inbox), parsed({ text }));
  }
  await putSent(house.store, inbox, house.now.ms, { text: 'no fish today' });
  const folder = { inboxId: inbox, kind: 'received' } as const;
  const look = async ({ index }: FedIndex, query = 'fish') => ({
    received: await found(index, house.store, house.account, folder, query),
    sent: await found(index, house.store, house.account, { ...folder, kind: 'sent' }, query),
  });
  return { house, inbox, folder, look, path: searchFolder(house.store.path) };
}

const WHOLE = { received: [2, 1], sent: [1] };
const NONE = { received: 'unavailable', sent: 'unavailable' };

t.test('one that is deleted while it is in use, or overwritten', async t => {
  const { house, path, look, folder } = await withMail(t);
  const fed = withIndex(t, house);
  await fed.feed();
  t.strictSame(await look(fed), WHOLE);
  t.strictSame(await foundBeside(house.store, house.account, folder, 'fish'), [2, 1]);

  for (const name of readdirSync(path)) rmSync(join(path, name));
  t.strictSame(await look(fed), NONE);
  t.strictSame(await foundBeside(house.store, house.account, folder, 'fish'), 'unavailable');
  await fed.feed();
  t.strictSame(await look(fed), WHOLE);

  t.match(fed.lost, [/missing/]);

  // Its log moves into the file.
  await fed.stop();
  for (const name of readdirSync(path)) writeFileSync(join(path, name), 'x'.repeat(50_000));
  const next = withIndex(t, house);
  t.strictSame(await look(next), NONE);
  await next.feed();
  t.strictSame(await look(next), WHOLE);
  t.match(next.lost, [/damaged/]);
  t.same(verifyStore(house.store).faults, []);
});

t.test('one whose damage only a command has found', async t => {
  const { house, inbox, path, folder, look } = await withMail(t);
  const beside = (query: string) => foundBeside(house.store, house.account, folder, query);
  const fed = withIndex(t, house);
  for (let at = 0; at < 20; at += 1) {
    const text = `${randomBytes(30_000).toString('hex').replace(/.{6}/g, '$& ')} fish`;
    await publish(house, await house.receive('raw', inbox), parsed({ text }));
  }
  await fed.feed();
  const all = await beside('fish');
  t.equal(all.length, 22);
  await fed.stop();
  const [file = ''] = readdirSync(path).filter(name => name.endsWith('.index'));
  const whole = readFileSync(join(path, file));
  const pages = 4096;

  const damages: readonly (readonly [string, () => void])[] = [
    ['missing', () => rmSync(join(path, file))],
    ['damaged behind its first pages', () => writeFileSync(join(path, file), whole.fill(7, 8 * pages))],
    ['cut', () => truncateSync(join(path, file), 8 * pages)],
  ];
  for (const [name, damage] of damages) {
    damage();
    t.strictSame(await beside('fish'), 'unavailable', name);
    // A command takes the time from the machine.
    house.now.ms = Date.now();
    const next = withIndex(t, house);
    await next.feed();
    t.strictSame(await look(next), { received: all, sent: [1] }, name);
    t.strictSame(await beside('fish'), all, name);
    await next.stop();
  }
  t.same(verifyStore(house.store).faults, []);
});

t.test('one that is of another state of the store, as after a restore', async t => {
  const { house, inbox, path, look } = await withMail(t);
  const first = withIndex(t, house);
  await first.feed();
  await first.stop();
  cpSync(path, `${path}.before`, { recursive: true });
  const second = withIndex(t, house);
  for (const text of ['more fish', 'much more fish']) {
    await publish(house, await house.receive('raw', inbox), parsed({ text }));
    await second.feed();
  }
  await second.stop();
  rmSync(path, { recursive: true });
  cpSync(`${path}.before`, path, { recursive: true });

  const third = withIndex(t, house);
  t.strictSame(await look(third), NONE);
  await third.feed();
  t.strictSame(await look(third), { received: [5, 4, 2, 1], sent: [1] });
  t.match(third.lost, [/another state of the store/]);
});

t.test('one whose words were made by other rules, and one for which an admin asks', async t => {
  const { house, look } = await withMail(t);
  const fed = withIndex(t, house);
  await fed.feed();
  const { account, store } = house;
  t.equal(await recoverIndexes(house), 0);
  await store.write(writer => {
    const record = getSearch(writer, account)!;
    writer.put(searchAccountsTable, account, { ...record, words: record.words - 1 });
  });
  t.equal(await recoverIndexes(house), 1);
  t.match(readSearchStatus(house), { accounts: 1, rebuilding: [{ account_id: account, messages: 0 }] });
  t.strictSame(await look(fed), NONE);
  await fed.feed();
  t.strictSame(await look(fed), WHOLE);

  for (const accountId of [account, null]) {
    t.strictSame(await rebuildIndexes(house, accountId), { accounts: 1 });
    t.equal(
      store.read(reader => searchStateOf(reader, account)),
      'rebuilding',
    );
    await fed.feed();
    t.strictSame(await look(fed), WHOLE);
  }
  t.match(readSearchStatus(house), { accounts: 1, waiting: 0, oldest_age_s: null, rebuilding: [] });
});
