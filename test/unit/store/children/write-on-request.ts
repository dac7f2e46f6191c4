import { createInterface } from 'node:readline';
import { openMigratedStore } from '../../../../src/store/open-store.js';
import { linesTable } from '../lines.js';
import { storeOptions } from '../with-store.js';

// Stores each line that it reads and repeats it after the flush; `read KEY` answers what is stored.
const store = await openMigratedStore(storeOptions(process.argv[2] ?? ''));
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  if (line.startsWith('read ')) {
    process.stdout.write(`${store.read(reader => reader.get(linesTable, line.slice(5))) ?? 'nothing'}\n`);
  } else {
    await store.write(writer => writer.put(linesTable, line, line));
    process.stdout.write(`${line}\n`);
  }
}
