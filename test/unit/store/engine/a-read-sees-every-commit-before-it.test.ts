import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { startChild } from '../children/child.js';
import { linesTable } from '../lines.js';
import { dataDirectory, withStore } from '../with-store.js';

t.test('a read that follows an awaited write sees it, though it had a snapshot before', async t => {
  const store = await withStore(t);
  for (let n = 0; n < 500; n++) {
    const line = `line${n}`;
    t.notOk(store.read(reader => reader.has(linesTable, line)));
    await store.write(writer => writer.put(linesTable, line, line));
    if (store.read(reader => reader.get(linesTable, line)) !== line) return t.fail(`${line} is not seen`);
  }
});

t.test('so does a read of one of many that wait for the same commit', async t => {
  const store = await withStore(t);
  const seen = await Promise.all(
    Array.from({ length: 500 }, async (_, n) => {
      await store.write(writer => writer.put(linesTable, `line${n}`, 'x'));
      return store.read(reader => reader.has(linesTable, `line${n}`));
    }),
  );
  t.notOk(seen.includes(false));
});

t.test('one read sees one snapshot, whatever is committed meanwhile', async t => {
  const path = dataDirectory(t);
  const store = await withStore(t, { path });
  store.read(reader => {
    t.notOk(reader.has(linesTable, 'other000000'));
    const script = join(import.meta.dirname, '../children/write-lines.js');
    execFileSync(process.execPath, [script, path, 'other', '1']);
    t.notOk(reader.has(linesTable, 'other000000'));
  });
  await null;
  t.ok(store.read(reader => reader.has(linesTable, 'other000000')));
});

t.test('what another process has committed is seen by the event that it causes, and the reverse', async t => {
  const path = dataDirectory(t);
  const store = await withStore(t, { path });
  const child = startChild(t, 'write-on-request.js', [path]);
  t.equal(await child.nextLine(), 'ready');
  for (let n = 0; n < 60; n++) {
    const theirs = `theirs${n}`;
    child.process.stdin?.write(`${theirs}\n`);
    // Keeps taking snapshots until the answer is there: the last one is as old as can be.
    const isThere = { value: false };
    const answered = child.nextLine().then(line => {
      isThere.value = true;
      return line;
    });
    while (!isThere.value) {
      store.read(reader => reader.has(linesTable, theirs));
      await new Promise(resolve => setImmediate(resolve));
    }
    if (!store.read(reader => reader.has(linesTable, theirs))) return t.fail(`${theirs} is not seen`);
    t.equal(await answered, theirs);
    await store.write(writer => writer.put(linesTable, `ours${n}`, 'ours'));
    child.process.stdin?.write(`read ours${n}\n`);
    if ((await child.nextLine()) !== 'ours') return t.fail(`ours${n} is not seen`);
  }
});
