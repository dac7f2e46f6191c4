import { setImmediate } from 'node:timers/promises';
import type { Dns } from '../../dns/dns-client.js';
import { domainOf } from '../../domain/addresses.js';
import { dkimRecordName, isKeyOf } from '../../domain/dkim.js';
import { type DeliveryId, idToBytes, instantOfId } from '../../domain/ids.js';
import { MINUTE_MS } from '../../domain/instants.js';
import { getDelivery } from '../../store/records/deliveries.js';
import { type DkimKeyIn, type DkimKeyRecord, listDkimKeys } from '../../store/records/dkim-keys.js';
import { pendingPages } from '../../store/records/pending.js';
import { type Logger, lapseInstant } from '../ports.js';
import { activate, type DkimDeps, ensureDkimKeys, forget, keepPublished } from './keys.js';

export interface DkimUpkeepDeps extends DkimDeps {
  /** Lower case, A-labels. */
  readonly domains: readonly string[];
  readonly dns: Dns;
  readonly log: Logger;
  /** How long to wait between two looks at the DNS for one record, in milliseconds; a minute when it is not given. */
  readonly lookMs?: number;
}

const LOOK_MS = 60_000;
/** Keys whose records are looked for at once. */
const KEYS_AT_ONCE = 8;

/**
 * Keeps the DKIM keys of all mail domains: makes those that are missing, has new ones sign once their records were seen
 * in the DNS, and forgets retired ones whose records need not be published any more. A run that finds nothing to do reads
 * the keys, which are a few.
 */
export class DkimUpkeep {
  readonly #deps: DkimUpkeepDeps;
  #isComplete = false;
  readonly #lookedAtMs = new Map<string, number>();

  constructor(deps: DkimUpkeepDeps) {
    this.#deps = deps;
  }

  /** @param shouldStop asked between two steps; the next run goes on */
  async run(shouldStop: () => boolean): Promise<void> {
    if (!this.#isComplete) await this.#makeMissing(shouldStop);
    if (shouldStop()) return;
    const keys = this.#deps.store.read(reader => listDkimKeys(reader));
    await this.#endRetired(keys, shouldStop);
    const due = keys.filter((key): key is DkimKeyIn<'new'> => key.state === 'new' && this.#isLookDue(key));
    for (let at = 0; at < due.length && !shouldStop(); at += KEYS_AT_ONCE) {
      await Promise.all(due.slice(at, at + KEYS_AT_ONCE).map(key => this.#look(key)));
    }
  }

  async #makeMissing(shouldStop: () => boolean): Promise<void> {
    const { domains, log } = this.#deps;
    for (const domain of domains) {
      if (shouldStop()) return;
      if (await ensureDkimKeys(this.#deps, domain)) log.info({ domain }, 'DKIM keys were made');
    }
    this.#isComplete = true;
  }

  #isLookDue({ domain, selector }: DkimKeyRecord): boolean {
    const nowMs = performance.now();
    const { lookMs = LOOK_MS } = this.#deps;
    const name = dkimRecordName(domain, selector);
    const isDue = nowMs - (this.#lookedAtMs.get(name) ?? Number.NEGATIVE_INFINITY) >= lookMs;
    if (isDue) this.#lookedAtMs.set(name, nowMs);
    return isDue;
  }

  async #look(key: DkimKeyIn<'new'>): Promise<void> {
    const { store, clock, maxQueuedMs, dns, log } = this.#deps;
    const { domain, selector } = key;
    const name = dkimRecordName(domain, selector);
    const answer = await dns.lookup(name, 'TXT');
    if (answer.kind !== 'found' || !isKeyOf(key, answer.records)) return;
    this.#lookedAtMs.delete(name);
    if (await store.write(writer => activate(writer, key, clock(), maxQueuedMs), 'settle')) {
      log.info({ domain, selector }, 'the record of a new DKIM key is in the DNS: the key signs from now on');
    }
  }

  async #endRetired(keys: readonly DkimKeyRecord[], shouldStop: () => boolean): Promise<void> {
    const { store, clock, log } = this.#deps;
    const nowMs = lapseInstant(clock);
    const over = keys.filter(
      (key): key is DkimKeyIn<'retired'> => key.state === 'retired' && key.publishedUntil <= nowMs,
    );
    for (const key of over) {
      const isNeeded = await this.#isQueued(key, shouldStop);
      if (shouldStop()) return;
      const { domain, selector } = key;
      const isChanged = await store.write(writer => {
        const current = listDkimKeys(writer, domain).find(one => one.selector === selector);
        // Ended by hand meanwhile.
        if (current?.state !== 'retired') return false;
        if (isNeeded) keepPublished(writer, current, nowMs);
        else forget(writer, current);
        return true;
      }, 'settle');
      if (isChanged) log.info({ domain, selector }, isNeeded ? STILL_NEEDED : NOT_NEEDED);
    }
  }

  /**
   * May a message that the key signed be queued still? For longer than was thought when the key was retired it is when
   * the service was down, or messages are queued for longer by now.
   */
  async #isQueued({ domain, retiredAt }: DkimKeyIn<'retired'>, shouldStop: () => boolean): Promise<boolean> {
    const { store } = this.#deps;
    const isOld = (id: DeliveryId): boolean => instantOfId(idToBytes(id)) <= retiredAt + RESERVED_AFTER_MS;
    for (const page of pendingPages(store, 'deliver')) {
      const old = page.filter(({ work }) => isOld(work.id));
      const isOurs = store.read(reader =>
        old.some(({ work }) => domainOf(getDelivery(reader, work.id)?.from ?? '') === domain),
      );
      if (isOurs) return true;
      if (shouldStop()) break;
      await setImmediate();
    }
    return false;
  }
}

/** A message may have been signed just before a key was retired, and reserved so much later. */
const RESERVED_AFTER_MS = MINUTE_MS;

const STILL_NEEDED = 'a message that a retired DKIM key signed is queued: its record stays published';
const NOT_NEEDED = 'the record of a retired DKIM key need not be published any more';
