import { openMigratedStore } from '../../../../src/store/open-store.js';
import { linesTable } from '../lines.js';
import { storeOptions } from '../with-store.js';

// Adds one to a common number, `count` times, each in a unit of work: [directory, count].
const [path = '', count = '0'] = process.argv.slice(2);
const store = await openMigratedStore(storeOptions(path));
const units = Array.from({ length: Number(count) }, () =>
  store.write(writer => {
    writer.put(linesTable, 'sum', String(Number(writer.get(linesTable, 'sum') ?? '0') + 1));
  }),
);
await Promise.all(units);
await store.close();
