import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { refuse } from '../../domain/errors.js';
import { type Compaction, compactInto, compactStore, sizesOf } from '../../store/compact-store.js';
import { freeBytesAt } from '../../store/engine/disk.js';
import { type Store, storeExists, storeFolder } from '../../store/engine/store.js';
import type { Clock } from '../ports.js';
import { claimStore } from './claim-store.js';

export interface CompactDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly version: string;
}

/** What a compaction takes, told before it begins; all in bytes. */
export interface CompactPlan {
  readonly fileBytes: number;
  /** About how much room the copy needs. */
  readonly neededBytes: number;
  readonly freeBytes: number;
}

/** @param directory another data directory for the copy; null: beside the file that it replaces */
export function planCompaction({ store }: Pick<CompactDeps, 'store'>, directory: string | null): CompactPlan {
  if (directory !== null) mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { fileBytes, copyBytes } = sizesOf(store);
  const freeBytes = freeBytesAt(directory ?? storeFolder(store.path));
  return { fileBytes, neededBytes: copyBytes, freeBytes };
}

/**
 * Gives the free pages of the store's file back to the file system (`store/compact-store.ts`), or makes a store without
 * them in another data directory. No daemon may serve the store; none can start meanwhile.
 * @throws StoreInUseError
 */
export async function compact(
  deps: CompactDeps,
  directory: string | null,
  onPlan: (plan: CompactPlan) => void | Promise<void>,
): Promise<Compaction> {
  if (directory !== null && (storeExists(directory) || existsSync(join(directory, 'data.mdb')))) {
    throw refuse('invalid_request', `There is a store in ${directory} already: name another directory.`);
  }
  const claim = await claimStore(deps.store, deps.version, deps.clock());
  try {
    const plan = planCompaction(deps, directory);
    await onPlan(plan);
    if (plan.neededBytes > plan.freeBytes) {
      throw refuse(
        'insufficient_room',
        `A copy of the store needs about ${plan.neededBytes} bytes, and ${plan.freeBytes} are free there. Nothing was changed. Free some, or name a directory on another disk with --to.`,
      );
    }
    return directory === null ? await compactStore(deps.store) : await compactInto(deps.store, directory);
  } finally {
    await claim.release();
  }
}
