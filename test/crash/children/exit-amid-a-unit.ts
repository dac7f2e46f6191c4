import { exitNow } from '../../../src/app/exit-guard.js';
import { putMeta } from '../../../src/store/engine/meta.js';
import type { Store } from '../../../src/store/engine/store.js';
import { openMigratedStore } from '../../../src/store/open-store.js';
import { storeOptions } from '../../unit/store/with-store.js';

// Exits amid a unit of work while others wait, on the main thread, which the thread of LMDB waits for:
// [directory, 'guarded' or 'bare'].
const [path = '', how = ''] = process.argv.slice(2);

async function keepWriting(store: Store): Promise<void> {
  for (let at = 0; ; at++) await store.write(writer => putMeta(writer, 'provedAt', at));
}

const store = await openMigratedStore(storeOptions(path));
for (let count = 0; count < 8; count++) void keepWriting(store);
setTimeout(() => {
  void store.write(() => {
    console.log('exiting');
    if (how === 'guarded') exitNow(1);
    process.exit(1);
  });
}, 100);
