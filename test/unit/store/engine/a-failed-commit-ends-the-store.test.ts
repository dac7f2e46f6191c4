import t from 'tap';
import { startChild } from '../children/child.js';
import { FIRST, LAST, linesTable } from '../lines.js';
import { dataDirectory, withStore } from '../with-store.js';

t.test(
  'the unit is refused with the cause, onFatal is told once, and what was promised is there',
  async t => {
    const path = dataDirectory(t);
    // The limit stands for a disk that fails: writes beyond 2 MiB of a file give EFBIG.
    const child = startChild(
      t,
      'run-into-a-limit.js',
      [path],
      `trap '' XFSZ; ulimit -f 2048; exec "$0" "$@"`,
    );
    const promised: string[] = [];
    let line = await child.nextLine();
    for (; !line.startsWith('failed '); line = await child.nextLine()) promised.push(line);
    t.match(JSON.parse(line.slice('failed '.length)), {
      name: 'StoreFailedError',
      cause: /File too large|Input\/output error|error/i,
      isSame: true,
      fatal: 1,
    });
    t.equal(await child.ended, 0);
    t.ok(promised.length > 5, `${promised.length} lines`);

    const store = await withStore(t, { path });
    const found = store.read(reader => reader.scanKeys(linesTable, { from: FIRST, to: LAST, limit: 1e6 }));
    t.strictSame(found.map(String), promised);
  },
);
