import { openMigratedStore } from '../../../../src/store/open-store.js';
import { claimStore } from '../../../../src/usecases/upkeep/claim-store.js';
import { storeOptions } from '../with-store.js';

// Claims a store and keeps it until it is told to give it back: [directory].
const store = await openMigratedStore(storeOptions(process.argv[2] ?? ''));
const claim = await claimStore(store, '1.2.3', Date.now()).catch((error: Error) => error);
if (claim instanceof Error) {
  process.stdout.write(`${claim.name}: ${claim.message}\n`);
} else {
  process.stdout.write(`claimed ${process.pid}\n`);
  await new Promise(resolve => process.stdin.once('data', resolve));
  await claim.release();
}
await store.close();
process.exit(0);
