import type { Dns } from '../../dns/dns-client.js';
import { dkimRecordName, isKeyOf } from '../../domain/dkim.js';
import { type DkimKeyIn, type DkimKeyRecord, listDkimKeys } from '../../store/records/dkim-keys.js';
import { type Logger, lapseInstant } from '../ports.js';
import { activate, type DkimDeps, ensureDkimKeys, forget } from './keys.js';

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
    await this.#forgetUnpublished(keys);
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

  async #forgetUnpublished(keys: readonly DkimKeyRecord[]): Promise<void> {
    const { store, clock, log } = this.#deps;
    const nowMs = lapseInstant(clock);
    const isOver = (key: DkimKeyRecord): boolean => key.state === 'retired' && key.publishedUntil <= nowMs;
    if (!keys.some(isOver)) return;
    const forgotten = await store.write(writer => {
      const over = listDkimKeys(writer).filter(isOver);
      for (const key of over) forget(writer, key);
      return over;
    }, 'settle');
    for (const { domain, selector } of forgotten) {
      log.info({ domain, selector }, 'the record of a retired DKIM key need not be published any more');
    }
  }
}
