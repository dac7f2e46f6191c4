import { MOST_BACK_MS } from '../../domain/clock.js';
import { SUPPRESSION_LIFETIME_MS } from '../../domain/delivery-reports.js';
import { KEY_LIFETIME_MS } from '../../domain/idempotency.js';
import type { AccountId } from '../../domain/ids.js';
import { DAY_MS, HOUR_MS } from '../../domain/instants.js';
import type { Store } from '../../store/engine/store.js';
import type { Writer } from '../../store/engine/tables.js';
import { getMessage, getSent, saveAttempt, saveMessage } from '../../store/mailbox/messages.js';
import { findLink, findPhrase, putLink, putPhrase } from '../../store/records/approvals.js';
import { accountsWithCharges, hasChargeAfter, redateCharges } from '../../store/records/charges.js';
import { deliveriesTable, getDelivery } from '../../store/records/deliveries.js';
import { FORGET_AFTER_MS, putForgetAt } from '../../store/records/events.js';
import { getUpload, redateUpload } from '../../store/records/file-uploads.js';
import {
  addPending,
  type DueWork,
  getPending,
  idempotencyTable,
  listDueAfter,
  type PendingKind,
  type PendingWork,
  removePending,
} from '../../store/records/pending.js';
import { getSearch, searchAccountsTable } from '../../store/records/search.js';
import { findAccountSuppression, putAccountSuppression } from '../../store/records/suppressions.js';
import { LAST_RECHECK_MS } from '../inbound/recheck-message.js';
import type { Clock } from '../ports.js';
import { LINK_LIFETIME_MS, PHRASE_LIFETIME_MS } from '../signup/policy.js';
import { UPLOAD_LIFETIME_MS } from '../uploads/file-uploads.js';

/** Pending work whose time is fixed when it is made, so that a time far ahead can only come of a wrong clock. */
type RedatedKind = Exclude<PendingKind, 'purge-trash' | 'relay-held' | 'expire-charges'>;

interface Lifetime<Kind extends PendingKind> {
  /** How long after it was made the work is due, at most. */
  readonly afterMs: number;
  /** Tells the record what the entry will say; undefined when the entry alone knows. */
  readonly tell?: (writer: Writer, work: DueWork<Kind>['work'], dueAt: number) => void;
  /** The one entry that does the work of two of the same id; without it each has an instant of its own. */
  readonly merge?: (one: DueWork<Kind>['work'], other: DueWork<Kind>['work']) => DueWork<Kind>['work'];
}

const REDATED: { readonly [Kind in RedatedKind]: Lifetime<Kind> } = {
  parse: {
    afterMs: 0,
    tell: (writer, { id }, parseDueAt) => {
      const record = getMessage(writer, id);
      if (record !== undefined && record.parseDueAt !== null)
        saveMessage(writer, record, { ...record, parseDueAt });
    },
  },
  authenticate: {
    afterMs: LAST_RECHECK_MS,
    tell: (writer, { id }, dueAt) => {
      const record = getMessage(writer, id);
      if (record?.recheck != null)
        saveMessage(writer, record, { ...record, recheck: { ...record.recheck, dueAt } });
    },
  },
  relay: {
    afterMs: 0,
    tell: (writer, { id }, relayDueAt) => {
      const record = getSent(writer, id);
      if (record !== undefined && record.relayDueAt !== null) saveAttempt(writer, { ...record, relayDueAt });
    },
  },
  deliver: {
    // The longest pause between two attempts, and a little more.
    afterMs: 5 * HOUR_MS,
    tell: (writer, { id }, dueAt) => {
      const record = getDelivery(writer, id);
      if (record === undefined || record.dueAt === null) return;
      const createdAt = Math.min(record.createdAt, dueAt);
      writer.put(deliveriesTable, id, {
        ...record,
        createdAt,
        nextAt: record.nextAt === null ? null : dueAt,
        dueAt,
      });
    },
  },
  index: {
    afterMs: 0,
    tell: (writer, { id }, dueAt) => {
      const record = getSearch(writer, id);
      if (record !== undefined) writer.put(searchAccountsTable, id, { ...record, dueAt });
    },
  },
  'purge-blob': { afterMs: 0 },
  'purge-inbox': { afterMs: 0 },
  'purge-thread': { afterMs: 0 },
  'expire-key': {
    afterMs: KEY_LIFETIME_MS,
    tell: (writer, { key }, expiresAt) => {
      const record = writer.get(idempotencyTable, key);
      if (record !== undefined) writer.put(idempotencyTable, key, { ...record, expiresAt });
    },
  },
  'expire-events': {
    afterMs: FORGET_AFTER_MS,
    tell: (writer, { id, before }, dueAt) => {
      if (before === null) putForgetAt(writer, id, dueAt);
    },
    // The open one (null) forgets what all others do.
    merge: (one, other) => {
      if (one.before === null) return one;
      return other.before === null || other.before > one.before ? other : one;
    },
  },
  'webhook-mail': { afterMs: HOUR_MS },
  'feedback-digest': { afterMs: DAY_MS },
  'expire-upload': {
    afterMs: UPLOAD_LIFETIME_MS,
    tell: (writer, { accountId, id }, expiresAt) => {
      const upload = getUpload(writer, accountId, id);
      if (upload !== undefined) redateUpload(writer, upload, expiresAt);
    },
  },
  'lapse-suppression': {
    afterMs: SUPPRESSION_LIFETIME_MS,
    tell: (writer, { accountId, address }, until) => {
      const entry = findAccountSuppression(writer, accountId, address);
      if (entry !== undefined) putAccountSuppression(writer, { ...entry, until });
    },
  },
  'expire-link': {
    afterMs: LINK_LIFETIME_MS,
    tell: (writer, { hash }, expiresAt) => {
      const link = findLink(writer, Buffer.from(hash, 'hex'));
      if (link !== undefined) putLink(writer, Buffer.from(hash, 'hex'), { ...link, expiresAt });
    },
  },
  'expire-phrase': {
    afterMs: PHRASE_LIFETIME_MS,
    tell: (writer, { hash }, expiresAt) => {
      const phrase = findPhrase(writer, Buffer.from(hash, 'hex'));
      if (phrase !== undefined) putPhrase(writer, Buffer.from(hash, 'hex'), { ...phrase, expiresAt });
    },
  },
};

/** Entries and charges that one unit of work changes at most. */
const PER_UNIT = 100;
/** Further ahead than this is no matter of clocks that differ a little, or of a retry that waits. */
const TOLERANCE_MS = MOST_BACK_MS;

/**
 * Once a clock that was ahead is right again, what was made meanwhile would be due when the clock has caught up: mail
 * parsed, bytes freed, an allowance given back, a link closed in a year. It is dated as if it were made now. What lies
 * in Trash is left alone: it can be erased by whoever wants to.
 */
export class Redating {
  readonly #store: Store;
  readonly #clock: Clock;
  /** What `setBackMs` was when everything had been looked through; a process looks once at its start. */
  #doneAtMs = -1;

  constructor({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Looks through everything if the clock was set back since the last time. Costs nothing otherwise.
   * @param shouldStop asked between units of work; what is left is done the next time
   */
  async run(shouldStop: () => boolean): Promise<void> {
    const nowMs = this.#clock();
    const { setBackMs = 0, isInDoubt = false } = this.#clock;
    // By a clock that is behind, everything is ahead.
    if (isInDoubt || setBackMs === this.#doneAtMs) return;
    for (const kind of Object.keys(REDATED) as RedatedKind[]) {
      while (await this.#redateSome(kind, nowMs)) if (shouldStop()) return;
    }
    for (const page of accountsWithCharges(this.#store, PER_UNIT)) {
      for (const accountId of page) await this.#redateCharges(accountId, nowMs);
      if (shouldStop()) return;
    }
    this.#doneAtMs = setBackMs;
  }

  async #redateSome<Kind extends RedatedKind>(kind: Kind, nowMs: number): Promise<boolean> {
    const { afterMs, tell, merge }: Lifetime<Kind> = REDATED[kind];
    const lastMs = nowMs + afterMs + TOLERANCE_MS;
    if (this.#store.read(reader => listDueAfter(reader, kind, lastMs, 1)).length === 0) return false;
    await this.#store.write(writer => {
      for (const due of listDueAfter(writer, kind, lastMs, PER_UNIT)) {
        const { id }: PendingWork = due.work;
        removePending(writer, { kind, dueAt: due.dueAt, id });
        let dueAt = nowMs + afterMs;
        let { work } = due;
        const there = getPending(writer, { kind, dueAt, id });
        if (there !== undefined && merge !== undefined) work = merge(there, work);
        else while (getPending(writer, { kind, dueAt, id }) !== undefined) dueAt += 1;
        tell?.(writer, work, dueAt);
        addPending(writer, dueAt, work);
      }
    }, 'settle');
    return true;
  }

  async #redateCharges(accountId: AccountId, nowMs: number): Promise<void> {
    const lastMs = nowMs + TOLERANCE_MS;
    while (this.#store.read(reader => hasChargeAfter(reader, accountId, lastMs))) {
      await this.#store.write(
        writer => redateCharges(writer, accountId, { lastMs, nowMs, limit: PER_UNIT }),
        'settle',
      );
    }
  }
}
