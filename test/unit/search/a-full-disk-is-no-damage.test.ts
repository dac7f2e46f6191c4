import { cpSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { joinWords } from '../../../src/domain/message-words.js';
import { parseSearch } from '../../../src/domain/search-words.js';
import { AccountIndex } from '../../../src/search/account-index.js';
import { isPassing } from '../../../src/search/sqlite.js';
import { canMount, mountSmallDisk } from '../../support/box/small-disk.js';

const skip = canMount() ? false : 'nothing can be mounted here';
const ACCOUNT = 'an account';
const FISH = { terms: parseSearch('fish'), from: 0, to: 1_000 };
const words = (row: number) => Buffer.from(joinWords({ subject: ['fish'], body: [`word${row}`] }));

t.test('an index for which the disk has no room is kept as it is', { skip }, t => {
  const source = join(t.testdir(), 'source');
  const made = AccountIndex.create(source, ACCOUNT);
  made.apply([{ row: 1, words: words(1) }], { from: 0, to: 1 });
  const disk = mountSmallDisk(t, 16);
  const path = join(disk.path, 'copy');
  // Without the file that connections share, as after a restore: opening it needs room for a new one.
  for (const suffix of ['', '-wal']) cpSync(`${source}${suffix}`, `${path}${suffix}`);
  made.close();
  disk.fill(0);
  for (const purpose of ['read', 'write'] as const) {
    const error = errorOf(() => AccountIndex.open(path, ACCOUNT, purpose));
    t.ok(isPassing(error), `${purpose}: ${error}`);
  }
  disk.empty();
  const index = AccountIndex.open(path, ACCOUNT, 'write');
  disk.fill(0);
  const change = { row: 2, words: words(2) };
  t.ok(isPassing(errorOf(() => index.apply([change], { from: 1, to: 2 }))));
  t.strictSame(index.find(FISH, true, 10).rows, [1]);
  disk.empty();
  t.equal(index.apply([change], { from: 1, to: 2 }), true);
  t.strictSame(index.find(FISH, true, 10).rows, [2, 1]);
  index.close();
  t.end();
});

function errorOf(work: () => unknown): unknown {
  try {
    work();
    return null;
  } catch (error) {
    return error;
  }
}
