import { openMigratedStore } from '../../../../src/store/open-store.js';
import { linesTable } from '../lines.js';
import { storeOptions } from '../with-store.js';

// Writes one unit of work after another and says so after each: [directory, prefix, count].
const [path = '', prefix = '', count = '0'] = process.argv.slice(2);
const store = await openMigratedStore(storeOptions(path));
for (let n = 0; n < Number(count); n++) {
  const line = `${prefix}${String(n).padStart(6, '0')}`;
  await store.write(writer => writer.put(linesTable, line, line));
  process.stdout.write(`${line}\n`);
}
await store.close();
