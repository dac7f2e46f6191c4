import { join } from 'node:path';
import { open } from 'lmdb';
import t from 'tap';
import { linesTable } from '../lines.js';
import { dataDirectory, withStore } from '../with-store.js';

t.test('a thousand writes at once take a few commits', async t => {
  const path = dataDirectory(t);
  const store = await withStore(t, { path });
  const environment = open({
    path: join(path, 'store'),
    mapSize: 2 ** 30,
    maxDbs: 64,
    overlappingSync: false,
  });
  const lastTransaction = () => (environment.getStats() as { lastTxnId: number }).lastTxnId;
  const before = lastTransaction();
  await Promise.all(
    Array.from({ length: 1000 }, (_, n) => store.write(writer => writer.put(linesTable, `line${n}`, 'x'))),
  );
  const commits = lastTransaction() - before;
  t.ok(commits >= 1 && commits <= 10, `${commits} commits`);
});
