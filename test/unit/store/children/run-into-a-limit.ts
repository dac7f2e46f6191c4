import { openMigratedStore } from '../../../../src/store/open-store.js';
import { linesTable } from '../lines.js';
import { storeOptions } from '../with-store.js';

// Writes until the limit on file sizes makes a commit fail, then says what it was told: [directory].
process.on('unhandledRejection', () => process.exit(3));
console.error = () => {};
let fatal = 0;
const path = process.argv[2] ?? '';
const store = await openMigratedStore(storeOptions(path, { onFatal: () => void fatal++ }));
const failures: unknown[] = [];
for (let n = 0; failures.length === 0; n++) {
  await store
    .write(writer => writer.put(linesTable, `line${String(n).padStart(6, '0')}`, 'x'.repeat(50_000)))
    .then(
      () => process.stdout.write(`line${String(n).padStart(6, '0')}\n`),
      error => void failures.push(error),
    );
}
const later = await store.write(() => 1).catch(error => error);
await new Promise(resolve => setImmediate(resolve));
process.stdout.write(
  `failed ${JSON.stringify({
    name: (failures[0] as Error).name,
    cause: String((failures[0] as Error).cause),
    isSame: later === failures[0],
    fatal,
  })}\n`,
);
process.exit(0);
