import type { ClockReading } from '../../domain/clock.js';
import type { AccountId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import { getMeta } from '../../store/engine/meta.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import { getCounters } from '../../store/mailbox/folders.js';
import { scanAccounts } from '../../store/records/accounts.js';
import { listInboxes } from '../../store/records/inboxes.js';
import { countDue, END_OF_TIME, oldestDueAge } from '../../store/records/pending.js';
import { scanWebhooks } from '../../store/records/webhooks.js';
import type { Clock } from '../ports.js';
import { type SearchStatus, searchStatusOf } from '../search/search-admin.js';
import { currentDaemon } from './claim-store.js';
import { type RestoredView, viewRestored } from './mark-restored.js';
import { type ClockView, viewClock } from './watch-clock.js';

/** How the box is, as the store tells it: the daemon need not run. */
export interface BoxStatus {
  /** Null when no daemon serves this store. */
  readonly daemon: {
    readonly pid: number;
    readonly version: string;
    readonly started_at: string;
    readonly uptime_s: number;
  } | null;
  readonly store: {
    readonly schema: number;
    readonly created_at: string | null;
    /** Bytes of live pages. */
    readonly used_bytes: number;
    /** What the map can still take. */
    readonly map_free_bytes: number;
    readonly disk_free_bytes: number;
    /** Free pages inside the file, as far as they count as room for new mail. */
    readonly reusable_bytes: number;
    /** False when disk or map are below their floor: new mail is refused for the time being. */
    readonly has_room: boolean;
  };
  /** Null unless the store was made from a backup. */
  readonly restored: RestoredView | null;
  /** The newest backup that was finished; null when there was none. */
  readonly last_backup: {
    /** Whatever was acknowledged by then is in it. */
    readonly snapshot_at: string;
    readonly path: string;
    readonly bytes: number;
    readonly age_s: number;
  } | null;
  readonly clock: ClockView;
  readonly counts: { readonly accounts: number; readonly inboxes: number; readonly messages: number };
  readonly webhooks: {
    readonly all: number;
    /** Enabled ones whose last try has failed. */
    readonly failing: number;
    /** Those that were disabled because their endpoint is gone or dead. */
    readonly ended: number;
  };
  readonly pending: {
    /** Messages that are due to be parsed; counted up to `MAX_COUNTED`. */
    readonly messages: number;
    /** How long the oldest of them has been due; null when none is. */
    readonly oldest_age_s: number | null;
    /** Sends without an outcome yet, reserved or being handed over; counted up to `MAX_COUNTED`. */
    readonly sends: number;
    readonly oldest_send_age_s: number | null;
    /** Sends that wait for an admin (`sending/queue-admin.ts`); counted up to `MAX_COUNTED`. */
    readonly held_sends: number;
    /** Deliveries to other mail servers that have not ended; counted up to `MAX_COUNTED`. */
    readonly deliveries: number;
  };
  /** How far the index is by which mail is found by its words. */
  readonly search: SearchStatus;
}

/** A backlog is counted no further: beyond it only "many" matters. */
export const MAX_COUNTED = 10_000;

export async function readStatus(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly readClock: () => ClockReading;
}): Promise<BoxStatus> {
  const { store } = deps;
  const nowMs = deps.clock();
  const daemon = await currentDaemon(store);
  const room = store.room.sample();
  const clock = viewClock({ store, read: deps.readClock });
  const restored = viewRestored(store);
  return store.read(reader => {
    const lastBackup = getMeta(reader, 'lastBackup');
    const createdAt = getMeta(reader, 'identity')?.createdAt;
    return {
      daemon:
        daemon === null
          ? null
          : {
              pid: daemon.pid,
              version: daemon.version,
              started_at: toInstant(daemon.startedAt),
              uptime_s: toSeconds(nowMs - daemon.startedAt),
            },
      store: {
        schema: getMeta(reader, 'schema') ?? 0,
        created_at: createdAt === undefined ? null : toInstant(createdAt),
        used_bytes: store.usedBytes(),
        map_free_bytes: room.mapFreeBytes,
        disk_free_bytes: room.diskFreeBytes,
        reusable_bytes: Math.round(room.reusableBytes),
        has_room: store.room.hasRoomFor(0),
      },
      restored,
      last_backup:
        lastBackup === undefined
          ? null
          : {
              snapshot_at: toInstant(lastBackup.snapshotAt),
              path: lastBackup.path,
              bytes: lastBackup.bytes,
              age_s: toSeconds(nowMs - lastBackup.snapshotAt),
            },
      clock,
      counts: countAll(reader),
      webhooks: countWebhooks(reader),
      pending: {
        messages: countDue(reader, 'parse', nowMs, MAX_COUNTED),
        oldest_age_s: ageOf(reader, 'parse', nowMs),
        sends: countDue(reader, 'relay', END_OF_TIME, MAX_COUNTED),
        oldest_send_age_s: ageOf(reader, 'relay', nowMs),
        held_sends: countDue(reader, 'relay-held', END_OF_TIME, MAX_COUNTED),
        deliveries: countDue(reader, 'deliver', END_OF_TIME, MAX_COUNTED),
      },
      search: searchStatusOf(reader, nowMs, null),
    };
  });
}

function ageOf(reader: Reader, kind: 'parse' | 'relay', nowMs: number): number | null {
  const oldestAge = oldestDueAge(reader, kind, nowMs);
  return oldestAge === null ? null : toSeconds(oldestAge);
}

const PAGE = 1000;

/** One short look an inbox: its counters, never its messages. */
function countAll(reader: Reader): BoxStatus['counts'] {
  const counts = { accounts: 0, inboxes: 0, messages: 0 };
  let after: AccountId | null = null;
  for (;;) {
    const page = scanAccounts(reader, after, PAGE);
    for (const account of page) {
      const inboxes = listInboxes(reader, account.id, Number.MAX_SAFE_INTEGER);
      counts.accounts += 1;
      counts.inboxes += inboxes.length;
      for (const inbox of inboxes) {
        counts.messages += getCounters(reader, { inboxId: inbox.id, kind: 'received' }).live;
      }
    }
    after = page.at(-1)?.id ?? null;
    if (page.length < PAGE) return counts;
  }
}

function countWebhooks(reader: Reader): BoxStatus['webhooks'] {
  const counts = { all: 0, failing: 0, ended: 0 };
  let after: Buffer | null = null;
  for (;;) {
    const page: ReturnType<typeof scanWebhooks> = scanWebhooks(reader, after, PAGE);
    for (const { value } of page) {
      counts.all += 1;
      if (value.disabled === null && value.failures > 0) counts.failing += 1;
      if (value.disabled !== null && value.disabled.reason !== 'requested') counts.ended += 1;
    }
    after = page.at(-1)?.key ?? null;
    if (page.length < PAGE) return counts;
  }
}

function toSeconds(ms: number): number {
  return Math.max(0, Math.floor(ms / 1000));
}
