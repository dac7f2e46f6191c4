import type { Migration } from '../../../../src/store/migrations/0001-initial-schema.js';
import { MIGRATIONS, openMigratedStore } from '../../../../src/store/open-store.js';
import { linesTable } from '../lines.js';
import { storeOptions } from '../with-store.js';

// Brings a store two schemas further; with `die` the process is killed in the middle of the last step.
const [path = '', mode = ''] = process.argv.slice(2);

const addLines: Migration = {
  name: 'add lines',
  up: writer => {
    writer.put(linesTable, 'runs', `${writer.get(linesTable, 'runs') ?? ''}2`);
    for (let n = 0; n < 500; n++) writer.put(linesTable, `line${n}`, 'x'.repeat(500));
  },
};

const rewriteLines: Migration = {
  name: 'rewrite lines',
  up: writer => {
    writer.put(linesTable, 'runs', `${writer.get(linesTable, 'runs') ?? ''}3`);
    for (let n = 0; n < 500; n++) {
      if (mode === 'die' && n === 250) process.kill(process.pid, 'SIGKILL');
      writer.put(linesTable, `line${n}`, 'y'.repeat(700));
    }
  },
};

const store = await openMigratedStore(storeOptions(path), [...MIGRATIONS, addLines, rewriteLines]);
process.stdout.write(`${store.read(reader => reader.get(linesTable, 'runs'))}\n`);
await store.close();
