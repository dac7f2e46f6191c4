import t from 'tap';
import { startChild } from '../children/child.js';
import { FIRST, LAST, linesTable } from '../lines.js';
import { dataDirectory, withStore } from '../with-store.js';

t.test('every line that the process said was written is there after SIGKILL', async t => {
  for (const [round, lines] of [1, 40, 300].entries()) {
    const path = dataDirectory(t);
    const child = startChild(t, 'write-lines.js', [path, 'line', '1000000']);
    let last = '';
    for (let n = 0; n < lines; n++) last = await child.nextLine();
    await child.kill();
    const store = await withStore(t, { path });
    const found = store.read(reader => reader.scanKeys(linesTable, { from: FIRST, to: LAST, limit: 1e6 }));
    t.ok(found.map(String).includes(last), `round ${round}: ${last}`);
    t.ok(found.length >= lines);
    t.strictSame(
      found.map(String),
      Array.from(found, (_, n) => `line${String(n).padStart(6, '0')}`),
    );
  }
});
