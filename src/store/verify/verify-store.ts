import type { BlobId, InboxId } from '../../domain/ids.js';
import type { Store } from '../engine/store.js';
import type { Reader } from '../engine/tables.js';
import {
  expectApprovalExpiry,
  expectKeyExpiry,
  expectSuppressionLapse,
  findPending,
  verifyAccounts,
} from './accounts-and-pending.js';
import { verifyDeliveries } from './deliveries.js';
import { verifyDkimKeys } from './dkim-keys.js';
import { verifyEvents } from './events.js';
import { findExcerpts } from './excerpts.js';
import { verifyFileUploads } from './file-uploads.js';
import { type Ledger, NameLedger, SumLedger } from './ledger.js';
import { expectMessages, findTrash, verifyCharges, verifyDrafts } from './messages.js';
import { verifySearch } from './search.js';
import {
  expectUploads,
  findBlobs,
  findCounters,
  findLabelCounts,
  findSets,
  findSummaries,
} from './sets-and-blobs.js';
import { StoredTally } from './stored-bytes.js';
import { verifyStsPolicies } from './sts-policies.js';
import { findThreads } from './threads.js';
import { verifyWebhooks } from './webhooks.js';

/** What was looked at. */
export interface Checked {
  readonly accounts: number;
  readonly inboxes: number;
  readonly messages: number;
  readonly sent: number;
  readonly in_trash: number;
  readonly drafts: number;
  readonly uploads: number;
  readonly threads: number;
  readonly pending: number;
  /** Uploads that have begun and not ended: a daemon that serves has some, one that was killed leaves some. */
  readonly unfinished_uploads: number;
  /** Entries that records and indexes had to agree on. */
  readonly entries: number;
}

export interface Verification {
  readonly checked: Checked;
  /** Empty when the store is sound. */
  readonly faults: readonly string[];
  /** More was found than is named. */
  readonly has_more_faults: boolean;
}

type IsListed = (reader: Reader, id: BlobId) => boolean;

/** Buckets of a ledger that are named; each holds every so many thousandth entry. */
const MAX_BUCKETS = 64;
const MAX_FAULTS = 500;

/**
 * Checks every record of a store against every index, counter and blob (see `ledger.ts`), in one snapshot and one event
 * turn: a daemon may serve the store meanwhile. While it lasts, some 100 µs a message, the pages that the daemon frees
 * are not used again and the file may grow.
 * @param isListed which blobs count: a backup may hold others (`store/backup`)
 */
export function verifyStore(store: Store, isListed: IsListed = () => true): Verification {
  return store.read(reader => {
    const sums = new SumLedger();
    const checked = readAll(reader, sums, isListed);
    const differing = sums.differing();
    if (differing.length === 0) return { checked, faults: [], has_more_faults: false };
    const names = new NameLedger(differing.slice(0, MAX_BUCKETS));
    readAll(reader, names, isListed);
    const faults = names.faults().sort();
    return {
      checked,
      faults: faults.slice(0, MAX_FAULTS),
      has_more_faults: differing.length > MAX_BUCKETS || faults.length > MAX_FAULTS,
    };
  });
}

function readAll(reader: Reader, ledger: Ledger, isListed: IsListed): Checked {
  let entries = 0;
  const counting: Ledger = {
    expect: (entry, times) => {
      entries += times ?? 1;
      ledger.expect(entry, times);
    },
    find: (entry, times) => ledger.find(entry, times),
  };
  const pending = findPending(reader, counting);
  const isLeaving = (id: InboxId): boolean => pending.leaving.has(id);
  const { accounts, inboxes } = verifyAccounts(reader, counting);
  const stored = new StoredTally(reader);
  const { received, sent, trashed, tallies } = expectMessages(reader, counting, isLeaving, stored);
  verifyCharges(reader, counting);
  const drafts = verifyDrafts(reader, counting, isLeaving, stored);
  verifyDkimKeys(reader, counting);
  verifyStsPolicies(reader, counting);
  verifyDeliveries(reader, counting);
  verifySearch(reader, counting, isLeaving);
  const uploads = verifyFileUploads(reader, counting, stored);
  verifyEvents(reader, counting);
  verifyWebhooks(reader, counting);
  stored.compare(counting);
  findExcerpts(reader, counting);
  findSummaries(reader, counting);
  findSets(reader, counting, isLeaving);
  findLabelCounts(reader, counting);
  findCounters(reader, counting, tallies, isLeaving);
  findTrash(reader, counting);
  const threads = findThreads(reader, counting, pending.ended);
  const unfinishedUploads = expectUploads(reader, counting);
  expectKeyExpiry(reader, counting);
  expectApprovalExpiry(reader, counting);
  expectSuppressionLapse(reader, counting);
  findBlobs(reader, counting, isListed);
  return {
    accounts,
    inboxes,
    messages: received,
    sent,
    in_trash: trashed,
    drafts,
    uploads,
    threads,
    pending: pending.count,
    unfinished_uploads: unfinishedUploads,
    entries,
  };
}
