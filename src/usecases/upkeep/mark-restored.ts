import { type AccountId, idFromBytes } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import { range, WHOLE_TABLE } from '../../store/engine/keys.js';
import { getMeta, putMeta } from '../../store/engine/meta.js';
import type { Store } from '../../store/engine/store.js';
import type { Table } from '../../store/engine/tables.js';
import { scanAccounts } from '../../store/records/accounts.js';
import {
  approvalLinksTable,
  claimPhrasesTable,
  removeLink,
  removePhrase,
} from '../../store/records/approvals.js';
import { getDelivery, saveDelivery } from '../../store/records/deliveries.js';
import { beginEpoch } from '../../store/records/events.js';
import { type PendingKind, pendingPages, removePending } from '../../store/records/pending.js';
import { beginRebuild, searchAccountsTable } from '../../store/records/search.js';
import type { Clock } from '../ports.js';
import { holdSendsAfterRestore } from '../sending/attempt.js';
import { afterRestore } from '../sending/delivery-states.js';

export interface MarkDeps {
  readonly store: Store;
  readonly clock: Clock;
}

/** What was held or voided in a store that was made from a backup. */
export interface RestoreMarks {
  /** Sends that waited to be handed over: `postern queue retry` lets them go. */
  readonly held_sends: number;
  /** Sends that were being handed over: nobody knows whether they went out. */
  readonly unknown_sends: number;
  /** Deliveries that waited: they may have arrived. */
  readonly unknown_deliveries: number;
  readonly voided_links: number;
  readonly voided_phrases: number;
}

const PER_UNIT = 500;
const EVENTS_PER_UNIT = 5_000;

/**
 * Makes a copy of an earlier state fit to be served. What has happened since is not known here, and must not happen a
 * second time: whatever waited to leave stays, links and phrases that somebody may have used are void, and feeds of
 * events begin anew, so that nobody goes on from a place that was undone. Sending and webhooks are held as a whole until
 * `resumeSending`.
 */
export async function markRestored({ store, clock }: MarkDeps, snapshotAt: number): Promise<RestoreMarks> {
  await store.write(writer => {
    putMeta(writer, 'restored', { restoredAt: clock(), snapshotAt, resumedAt: null });
  });
  await beginEpochs({ store, clock });
  const sends = await holdSendsAfterRestore({ store, clock });
  const marks = {
    held_sends: sends.held,
    unknown_sends: sends.unknown,
    unknown_deliveries: await settleDeliveries({ store, clock }),
    voided_links: await removeAll(store, approvalLinksTable, removeLink),
    voided_phrases: await removeAll(store, claimPhrasesTable, removePhrase),
  };
  await rebuildIndexes({ store, clock });
  return marks;
}

async function beginEpochs({ store, clock }: MarkDeps): Promise<void> {
  for (let after: AccountId | null = null; ; ) {
    const page: ReturnType<typeof scanAccounts> = store.read(reader => scanAccounts(reader, after, PER_UNIT));
    for (const { id } of page) {
      let dropped = EVENTS_PER_UNIT;
      while (dropped === EVENTS_PER_UNIT) {
        dropped = await store.write(writer => beginEpoch(writer, id, clock(), EVENTS_PER_UNIT));
      }
    }
    after = page.at(-1)?.id ?? null;
    if (page.length < PER_UNIT) break;
  }
  await forgetPending(store, 'expire-events');
}

async function forgetPending(store: Store, kind: PendingKind): Promise<void> {
  for (const page of pendingPages(store, kind)) {
    await store.write(writer => {
      for (const { dueAt, work } of page) removePending(writer, { kind, dueAt, id: work.id });
    });
  }
}

async function settleDeliveries({ store, clock }: MarkDeps): Promise<number> {
  let count = 0;
  for (const page of pendingPages(store, 'deliver')) {
    await store.write(writer => {
      const nowMs = clock();
      for (const { work } of page) {
        const delivery = getDelivery(writer, work.id);
        const isOpen = delivery?.recipients.some(({ state }) => state === 'queued' || state === 'sending');
        if (delivery === undefined || isOpen !== true) continue;
        saveDelivery(writer, delivery, afterRestore(delivery, nowMs), nowMs);
        count += 1;
      }
    });
  }
  return count;
}

async function removeAll<Value>(
  store: Store,
  table: Table<Buffer, Value>,
  remove: (writer: Parameters<typeof removeLink>[0], hash: Buffer, value: Value) => void,
): Promise<number> {
  for (let count = 0; ; ) {
    const scan = { ...range(WHOLE_TABLE), limit: PER_UNIT };
    const page = store.read(reader => reader.scan(table, scan));
    if (page.length === 0) return count;
    await store.write(writer => {
      for (const { key, value } of page) remove(writer, key, value);
    });
    count += page.length;
  }
}

/** The index is no part of a backup: each account's is made anew by the daemon, in the background. */
async function rebuildIndexes({ store, clock }: MarkDeps): Promise<void> {
  for (let after: Buffer | null = null; ; ) {
    const scan = { ...range(WHOLE_TABLE, after), limit: PER_UNIT };
    const keys: readonly Buffer[] = store.read(reader => reader.scanKeys(searchAccountsTable, scan));
    if (keys.length > 0) {
      await store.write(writer => {
        for (const key of keys) {
          beginRebuild(writer, idFromBytes<AccountId>(key), 'the store was restored from a backup', clock());
        }
      });
    }
    after = keys.at(-1) ?? null;
    if (keys.length < PER_UNIT) return;
  }
}

/** Whether a store was restored, and what of it is held, for an admin. */
export interface RestoredView {
  readonly restored_at: string;
  /** Whatever was acknowledged after this instant is not in the store. */
  readonly snapshot_at: string;
  /** Sending and webhooks wait for `postern restore --resume-sending`. */
  readonly is_held: boolean;
}

export function viewRestored(store: Store): RestoredView | null {
  const restored = store.read(reader => getMeta(reader, 'restored'));
  if (restored === undefined) return null;
  const { restoredAt, snapshotAt, resumedAt } = restored;
  return {
    restored_at: toInstant(restoredAt),
    snapshot_at: toInstant(snapshotAt),
    is_held: resumedAt === null,
  };
}

/** Lets a restored store send and call webhooks again. @returns false when nothing was held */
export function resumeSending({ store, clock }: MarkDeps): Promise<boolean> {
  return store.write(writer => {
    const restored = getMeta(writer, 'restored');
    if (restored === undefined || restored.resumedAt !== null) return false;
    putMeta(writer, 'restored', { ...restored, resumedAt: clock() });
    return true;
  }, 'settle');
}
