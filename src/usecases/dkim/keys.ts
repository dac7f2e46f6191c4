import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import {
  DKIM_ALGORITHMS,
  type DkimAlgorithm,
  dkimRecord,
  dkimRecordName,
  newSelector,
} from '../../domain/dkim.js';
import { refuse } from '../../domain/errors.js';
import { DAY_MS, toInstant } from '../../domain/instants.js';
import { type DkimRecord, zoneLine } from '../../domain/zone-records.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import {
  activeKey,
  type DkimKeyIn,
  type DkimKeyRecord,
  listDkimKeys,
  putDkimKey,
} from '../../store/records/dkim-keys.js';
import type { Clock } from '../ports.js';

/**
 * The life of a DKIM key. The first key of a domain signs at once. A later one is `new` until its record was seen in the
 * DNS (`look-for-records.ts`); then it signs, and the key before it is `retired`: its private part is erased, its
 * record stays published until nothing that it signed can be on its way any more. No answer has a private part.
 */
export interface DkimDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** How long a message may be queued after it was signed, in milliseconds. */
  readonly maxQueuedMs: number;
}

/** A key as an operator sees it. */
export interface DkimKeyView {
  readonly domain: string;
  readonly selector: string;
  readonly algorithm: DkimAlgorithm;
  readonly state: Exclude<DkimKeyRecord['state'], 'gone'>;
  readonly created_at: string;
  /** Until when the record of a retired key has to stay in the DNS. */
  readonly published_until: string | null;
  /** Name of the TXT record. */
  readonly name: string;
  /** Text of the TXT record. */
  readonly record: string;
  /** The record as a line of a zone file. */
  readonly zone_line: string;
}

/** What is left for the time after the last message that a retired key signed. */
const PUBLISHED_AFTER_MS = 7 * DAY_MS;

/**
 * Makes the keys that a domain lacks: one of each algorithm. They sign at once when none signs for the domain; beside one
 * that signs they wait until their records were seen.
 * @param domain lower case, A-labels
 * @returns whether any was made
 */
export async function ensureDkimKeys({ store, clock }: DkimDeps, domain: string): Promise<boolean> {
  const lacking = store.read(reader => lackingAlgorithms(listDkimKeys(reader, domain)));
  if (lacking.length === 0) return false;
  const pairs = await Promise.all(lacking.map(makeKeyPair));
  return store.write(writer => {
    // Another process may have made them meanwhile.
    const keys = listDkimKeys(writer, domain);
    const stillLacking = lackingAlgorithms(keys);
    const made = pairs.filter(({ algorithm }) => stillLacking.includes(algorithm));
    for (const pair of made) {
      const { privateKey } = pair;
      const facts = factsOf(writer, domain, pair, clock());
      const isFirst = !keys.some(isActive);
      if (isFirst) putDkimKey(writer, { ...facts, state: 'active', activeAt: facts.createdAt, privateKey });
      else putDkimKey(writer, { ...facts, state: 'new', privateKey });
    }
    return made.length > 0;
  }, 'settle');
}

/**
 * New keys for a domain, which sign once their records were seen in the DNS. Those that wait already are not made again.
 * @returns all keys of the domain
 * @throws not_found for a domain without keys
 */
export async function rotateDkimKeys(deps: DkimDeps, domain: string): Promise<DkimKeyView[]> {
  const { store, clock } = deps;
  const before = store.read(reader => keysOf(reader, domain));
  const lacking = algorithmsWithout(before, 'new');
  const pairs = await Promise.all(lacking.map(makeKeyPair));
  await store.write(writer => {
    const stillLacking = algorithmsWithout(keysOf(writer, domain), 'new');
    for (const pair of pairs.filter(({ algorithm }) => stillLacking.includes(algorithm))) {
      putDkimKey(writer, {
        ...factsOf(writer, domain, pair, clock()),
        state: 'new',
        privateKey: pair.privateKey,
      });
    }
  }, 'settle');
  return listDkim(deps, domain);
}

/**
 * Ends a key. One that is `new` is withdrawn. One that signs does so no more, and stays published; it is refused when no
 * other key of the domain signs. The record of one that is retired needs no longer be published.
 * @returns the key as it was
 * @throws not_found for a key that is not there, invalid_request for the last key that signs
 */
export async function retireDkimKey(
  deps: DkimDeps,
  { domain, selector }: { readonly domain: string; readonly selector: string },
): Promise<DkimKeyView> {
  const { store, clock, maxQueuedMs } = deps;
  return store.write(writer => {
    const keys = keysOf(writer, domain);
    const key = keys.find(one => one.selector === selector);
    if (key === undefined || key.state === 'gone') {
      throw refuse(
        'not_found',
        `${domain} has no DKIM key "${selector}". "postern dkim list ${domain}" shows its keys.`,
      );
    }
    if (key.state !== 'active') forget(writer, key);
    else {
      if (keys.filter(isActive).length === 1) {
        throw refuse(
          'invalid_request',
          `"${selector}" is the only key that signs for ${domain}: nothing was changed. Rotate the keys, and publish the new records; then it is retired by itself.`,
        );
      }
      retire(writer, key, clock(), maxQueuedMs);
    }
    return viewKey(key);
  }, 'settle');
}

/**
 * Ends all keys of a domain that mail is no longer sent from.
 * @returns the keys that are left: those that stay published for a while
 * @throws not_found for a domain without keys
 */
export async function retireDkimDomain(deps: DkimDeps, domain: string): Promise<DkimKeyView[]> {
  const { store, clock, maxQueuedMs } = deps;
  await store.write(writer => {
    for (const key of keysOf(writer, domain)) {
      if (key.state === 'active') retire(writer, key, clock(), maxQueuedMs);
      if (key.state === 'new') forget(writer, key);
    }
  }, 'settle');
  return listDkim(deps, domain);
}

/** The keys of a domain, or of all domains, by domain and selector. Those that are gone are left out. */
export function listDkim({ store }: Pick<DkimDeps, 'store'>, domain: string | null): DkimKeyView[] {
  return present(store.read(reader => listDkimKeys(reader, domain))).map(viewKey);
}

/** The records of a domain that have to be in the DNS: of keys that wait to be seen, that sign, and that have signed. */
export function publishedDkimKeys({ store }: Pick<DkimDeps, 'store'>, domain: string): DkimRecord[] {
  return listDkim({ store }, domain).map(({ selector, record }) => ({ selector, domain, record }));
}

/** The new key takes over from the one of the same algorithm that signs, if there is one. Does nothing when it is no longer new. */
export function activate(
  writer: Writer,
  { domain, selector }: Pick<DkimKeyRecord, 'domain' | 'selector'>,
  nowMs: number,
  maxQueuedMs: number,
): boolean {
  const keys = listDkimKeys(writer, domain);
  const key = keys.find(one => one.selector === selector);
  if (key?.state !== 'new') return false;
  const before = activeKey(keys, key.algorithm);
  if (before !== undefined) retire(writer, before, nowMs, maxQueuedMs);
  putDkimKey(writer, { ...key, state: 'active', activeAt: nowMs });
  return true;
}

function retire(writer: Writer, key: DkimKeyIn<'active'>, nowMs: number, maxQueuedMs: number): void {
  const { activeAt: _activeAt, privateKey: _privateKey, ...facts } = key;
  const publishedUntil = nowMs + maxQueuedMs + PUBLISHED_AFTER_MS;
  putDkimKey(writer, { ...facts, state: 'retired', retiredAt: nowMs, publishedUntil });
}

/** What a retired key has signed is queued still: its record stays as long after that. */
export function keepPublished(writer: Writer, key: DkimKeyIn<'retired'>, nowMs: number): void {
  putDkimKey(writer, { ...key, publishedUntil: nowMs + PUBLISHED_AFTER_MS });
}

/** Keeps the selector alone, so that it is not given to another key. */
export function forget(writer: Writer, key: DkimKeyRecord): void {
  const { domain, selector, algorithm, publicKey, createdAt } = key;
  putDkimKey(writer, { domain, selector, algorithm, publicKey, createdAt, state: 'gone' });
}

function keysOf(reader: Reader, domain: string): DkimKeyRecord[] {
  const keys = listDkimKeys(reader, domain);
  if (present(keys).length > 0) return keys;
  throw refuse(
    'not_found',
    `There are no DKIM keys of ${domain}. "postern dkim list" shows those there are, "postern dkim create ${domain}" makes some.`,
  );
}

type PresentKey = Exclude<DkimKeyRecord, DkimKeyIn<'gone'>>;

function present(keys: readonly DkimKeyRecord[]): PresentKey[] {
  return keys.filter((key): key is PresentKey => key.state !== 'gone');
}

/** A key that waits will do where another signs until it does. */
function lackingAlgorithms(keys: readonly DkimKeyRecord[]): DkimAlgorithm[] {
  const inactive = algorithmsWithout(keys, 'active');
  const without = algorithmsWithout(keys, 'new');
  return keys.some(isActive) ? inactive.filter(algorithm => without.includes(algorithm)) : inactive;
}

const isActive = ({ state }: DkimKeyRecord): boolean => state === 'active';

function algorithmsWithout(keys: readonly DkimKeyRecord[], state: DkimKeyRecord['state']): DkimAlgorithm[] {
  return DKIM_ALGORITHMS.filter(
    algorithm => !keys.some(key => key.algorithm === algorithm && key.state === state),
  );
}

interface KeyPair {
  readonly algorithm: DkimAlgorithm;
  readonly publicKey: string;
  readonly privateKey: string;
}

function factsOf(reader: Reader, domain: string, { algorithm, publicKey }: KeyPair, nowMs: number) {
  const taken = new Set(listDkimKeys(reader, domain).map(({ selector }) => selector));
  const selector = newSelector(algorithm, nowMs, one => taken.has(one));
  return { domain, selector, algorithm, publicKey, createdAt: nowMs };
}

const generate = promisify(generateKeyPair);

/** An RSA key takes some tenths of a second, in a thread of Node's pool. */
async function makeKeyPair(algorithm: DkimAlgorithm): Promise<KeyPair> {
  const { publicKey, privateKey } =
    algorithm === 'rsa-sha256' ? await generate('rsa', { modulusLength: 2048 }) : await generate('ed25519');
  return {
    algorithm,
    publicKey: publicText(algorithm, publicKey),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
  };
}

/** Bytes of an Ed25519 key, which stand at the end of its SubjectPublicKeyInfo (RFC 8410 section 4). */
const ED25519_BYTES = 32;

function publicText(algorithm: DkimAlgorithm, key: KeyObject): string {
  const info = key.export({ type: 'spki', format: 'der' });
  return (algorithm === 'rsa-sha256' ? info : info.subarray(-ED25519_BYTES)).toString('base64');
}

function viewKey(key: PresentKey): DkimKeyView {
  const { domain, selector, algorithm, state, createdAt } = key;
  const name = dkimRecordName(domain, selector);
  const record = dkimRecord(key);
  return {
    domain,
    selector,
    algorithm,
    state,
    created_at: toInstant(createdAt),
    published_until: key.state === 'retired' ? toInstant(key.publishedUntil) : null,
    name,
    record,
    zone_line: zoneLine({ name, type: 'TXT', value: record }),
  };
}
