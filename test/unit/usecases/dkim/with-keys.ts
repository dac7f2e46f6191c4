import type { Test } from 'tap';
import type { DnsAnswer } from '../../../../src/dns/answer.js';
import type { Dns } from '../../../../src/dns/dns-client.js';
import { DAY_MS, HOUR_MS } from '../../../../src/domain/instants.js';
import type { Store } from '../../../../src/store/engine/store.js';
import { type DkimDeps, type DkimKeyView, listDkim } from '../../../../src/usecases/dkim/keys.js';
import { DkimUpkeep } from '../../../../src/usecases/dkim/look-for-records.js';
import { type RecordingLog, recordingLog } from '../../../support/redis/redis.js';
import { withStore } from '../../store/with-store.js';

export const DOMAIN = 'agents.test';
export const MAX_QUEUED_MS = 48 * HOUR_MS;
export const PUBLISHED_MS = MAX_QUEUED_MS + 7 * DAY_MS;

export interface KeyHouse {
  readonly store: Store;
  readonly now: { ms: number };
  readonly deps: DkimDeps;
  readonly log: RecordingLog;
  /** What the DNS says: TXT records by name, or that it fails. */
  readonly zone: Map<string, readonly string[] | 'failed'>;
  /** Names that were asked for. */
  readonly asked: string[];
  /** One run of the upkeep of a process that has just begun. */
  readonly upkeep: (domains?: readonly string[]) => Promise<void>;
  /** `selector state`, of the keys of the domain. */
  readonly states: (domain?: string) => string[];
  /** Puts the records of these keys into the DNS. */
  readonly publish: (keys: readonly DkimKeyView[]) => void;
  readonly keys: () => DkimKeyView[];
}

/** A store with a clock that is set by the test and a DNS of its own. */
export async function withKeys(t: Test): Promise<KeyHouse> {
  const store = await withStore(t);
  const now = { ms: Date.UTC(2026, 10, 28, 12) };
  const deps: DkimDeps = { store, clock: () => now.ms, maxQueuedMs: MAX_QUEUED_MS };
  const log = recordingLog();
  const zone = new Map<string, readonly string[] | 'failed'>();
  const asked: string[] = [];
  const txt = (name: string): DnsAnswer<'TXT'> => {
    asked.push(name);
    const records = zone.get(name);
    if (records === 'failed') return { kind: 'failed', reason: 'nobody answers' };
    if (records === undefined) return { kind: 'no_name', isAuthentic: false };
    return { kind: 'found', records, name, isAuthentic: false };
  };
  const dns = { lookup: async (name: string) => txt(name) } as unknown as Dns;
  return {
    store,
    now,
    deps,
    log,
    zone,
    asked,
    upkeep: (domains = [DOMAIN]) =>
      new DkimUpkeep({ ...deps, domains, dns, log, lookMs: 0 }).run(() => false),
    states: (domain = DOMAIN) => listDkim(deps, domain).map(({ selector, state }) => `${selector} ${state}`),
    publish: keys => {
      for (const { name, record } of keys) zone.set(name, [record]);
    },
    keys: () => listDkim(deps, DOMAIN),
  };
}
