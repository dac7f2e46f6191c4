import t from 'tap';
import { startChild } from '../children/child.js';
import { linesTable } from '../lines.js';
import { dataDirectory, withStore } from '../with-store.js';

t.test('units of work of several processes never overlap', async t => {
  const path = dataDirectory(t);
  const children = [1, 2, 3].map(() => startChild(t, 'add-one.js', [path, '200']));
  const store = await withStore(t, { path });
  await Promise.all(
    Array.from({ length: 200 }, () =>
      store.write(writer => {
        writer.put(linesTable, 'sum', String(Number(writer.get(linesTable, 'sum') ?? '0') + 1));
      }),
    ),
  );
  for (const child of children) t.equal(await child.ended, 0);
  t.equal(
    store.read(reader => reader.get(linesTable, 'sum')),
    '800',
  );
});
