import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { DAY_MS } from '../domain/instants.js';
import { validityOf } from '../lib/certificates.js';
import type { Clock } from '../usecases/ports.js';
import { type AcmeAnswer, AcmeClient, asObject } from './acme-client.js';
import { AcmeError, detailOf, type Problem, typeOf } from './acme-error.js';
import type { CertificateFolder } from './certificate-folder.js';
import { certificateRequest, keyToPem, newKey } from './certificate-request.js';
import { Challenges } from './challenges.js';
import type { AcmeSettings } from './settings.js';

/** What one try may take: an authority looks at each name from several places. */
const TRY_MS = 5 * 60_000;
const FIRST_POLL_MS = 500;
const LONGEST_POLL_MS = 10_000;
/** An order that was begun before is not gone on with after this long. */
const ORDER_KEPT_MS = DAY_MS;

export interface ObtainOptions {
  readonly settings: AcmeSettings;
  readonly folder: CertificateFolder;
  readonly clock: Clock;
  readonly version: string;
  /** Ends the try; what it has begun is gone on with at the next. */
  readonly signal: AbortSignal;
  readonly onStep: (step: string) => void;
}

/** These pass: what was begun is gone on with. */
const PASSING: ReadonlySet<string> = new Set(['network', 'serverInternal', 'rateLimited']);

interface Order {
  readonly url: string;
  readonly key: KeyObject;
}

/**
 * Gets a certificate for all names (RFC 8555 section 7) and puts it in the place of the one that is there, in one step.
 * Key and order are on disk before the authority is asked to issue: a try that was cut off takes up what it had begun,
 * instead of having a second certificate issued. Rejects with an `AcmeError`, or with what the disk says.
 */
export async function obtainCertificate(options: ObtainOptions): Promise<void> {
  const { settings, folder, clock, version, onStep } = options;
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(TRY_MS)]);
  const client = new AcmeClient({
    directoryUrl: settings.directoryUrl,
    accountKey: folder.accountKey(settings.directoryUrl),
    userAgent: `postern/${version}`,
    signal,
  });
  const challenges = new Challenges(folder.challenges);
  challenges.removeStale(clock());
  try {
    await client.openAccount(settings.contactEmail);
    onStep(`account with ${new URL(settings.directoryUrl).host}`);
    const order = await begin(options, client);
    const chain = await complete({ client, order, challenges, signal, onStep, names: settings.names });
    checkChain(chain, order.key, settings.names, clock());
    folder.saveCertificate(order.key, chain);
    folder.removeOrder();
  } catch (error) {
    // What the authority has refused is not to be taken up again.
    if (error instanceof AcmeError && !PASSING.has(error.type)) folder.removeOrder();
    if (signal.aborted && !options.signal.aborted && !(error instanceof AcmeError)) {
      throw new AcmeError('network', 'the authority did not come to an end in five minutes');
    }
    throw error;
  }
}

/** The order of an earlier try, or a new one. */
async function begin({ settings, folder, clock }: ObtainOptions, client: AcmeClient): Promise<Order> {
  const { names, directoryUrl } = settings;
  const before = folder.order();
  const isOurs =
    before !== null &&
    before.directoryUrl === directoryUrl &&
    isSameList(before.names, names) &&
    Math.abs(clock() - before.begunAt) < ORDER_KEPT_MS;
  if (isOurs && (await isAlive(client, before.url))) {
    return { url: before.url, key: createPrivateKey(before.key) };
  }
  const { location } = await client.newOrder(names);
  if (location === null) throw new AcmeError('protocol', 'the authority did not name the order');
  const order = { url: location, key: newKey() };
  folder.saveOrder({ names, directoryUrl, url: order.url, key: keyToPem(order.key), begunAt: clock() });
  return order;
}

async function isAlive(client: AcmeClient, url: string): Promise<boolean> {
  try {
    return asObject((await client.get(url)).text).status !== 'invalid';
  } catch (error) {
    if (error instanceof AcmeError && !PASSING.has(error.type)) return false;
    throw error;
  }
}

interface Work {
  readonly client: AcmeClient;
  readonly order: Order;
  readonly challenges: Challenges;
  readonly names: readonly string[];
  readonly signal: AbortSignal;
  readonly onStep: (step: string) => void;
}

/** Takes an order from whatever state it is in to its certificate (section 7.1.6). */
async function complete(work: Work): Promise<string> {
  const { client, order, names, onStep } = work;
  let { fields } = await poll(work, order.url, status => status !== 'processing');
  if (fields.status === 'pending') {
    for (const url of texts(fields.authorizations)) await prove(work, url);
    ({ fields } = await poll(work, order.url, status => status !== 'pending'));
  }
  if (fields.status === 'ready') {
    const csr = certificateRequest(order.key, names).toString('base64url');
    await client.post(text(fields.finalize), { csr });
    onStep('asked to issue');
    ({ fields } = await poll(work, order.url, status => status !== 'ready' && status !== 'processing'));
  }
  if (fields.status !== 'valid') throw refusalOf(fields.error, 'the authority has ended the order', null);
  return (await client.get(text(fields.certificate))).text;
}

/** Proves that a name is ours, unless the authority knows (section 7.5). */
async function prove(work: Work, url: string): Promise<void> {
  const { client, challenges, onStep } = work;
  const { fields } = read(await client.get(url));
  const host = text((fields.identifier as { value?: unknown } | undefined)?.value);
  if (fields.status === 'valid') return;
  const challenge = challengesIn(fields).find(({ type }) => type === 'http-01');
  if (challenge === undefined) {
    throw new AcmeError('protocol', `the authority does not offer to fetch a proof for ${host}`, { host });
  }
  const token = text(challenge.token);
  challenges.put(token, client.keyAuthorization(token));
  try {
    onStep(`waiting until ${host} is looked at`);
    if (challenge.status !== 'processing') await client.post(text(challenge.url), {});
    const looked = await poll(work, url, status => status !== 'pending');
    if (looked.fields.status === 'valid') return;
    const problem = challengesIn(looked.fields).find(({ error }) => error !== undefined)?.error;
    throw refusalOf(problem, `the authority does not believe that ${host} is this machine`, host);
  } finally {
    challenges.remove(token);
  }
}

interface Challenge {
  readonly type?: unknown;
  readonly token?: unknown;
  readonly url?: unknown;
  readonly status?: unknown;
  readonly error?: unknown;
}

function challengesIn({ challenges }: Resource['fields']): readonly Challenge[] {
  const all: readonly unknown[] = Array.isArray(challenges) ? challenges : [];
  return all.filter((one): one is Challenge => typeof one === 'object' && one !== null);
}

interface Resource {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly retryAfterMs: number | null;
}

/** Reads a resource until its status is one that is waited for. */
async function poll(
  { client, signal }: Work,
  url: string,
  isOver: (status: unknown) => boolean,
): Promise<Resource> {
  for (let waitMs = FIRST_POLL_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_POLL_MS)) {
    const resource = read(await client.get(url));
    if (isOver(resource.fields.status)) return resource;
    const askedMs = Math.min(resource.retryAfterMs ?? 0, LONGEST_POLL_MS);
    await pause(Math.max(waitMs, askedMs), undefined, { signal });
  }
}

function read({ text, retryAfterMs }: AcmeAnswer): Resource {
  return { fields: asObject(text), retryAfterMs };
}

function refusalOf(problem: unknown, otherwise: string, host: string | null): AcmeError {
  if (typeof problem !== 'object' || problem === null) return new AcmeError('protocol', otherwise, { host });
  return new AcmeError(typeOf(problem), detailOf(problem as Problem) || otherwise, { host });
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new AcmeError('protocol', 'the authority leaves out a field that belongs in its answer');
}

function texts(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw new AcmeError('protocol', 'the authority names no authorizations');
  return value.map(text);
}

/** What is put in the place of a certificate that works has to work itself. */
function checkChain(chain: string, key: KeyObject, names: readonly string[], nowMs: number): void {
  const leaf = parsed(chain);
  const fault = !leaf.checkPrivateKey(key)
    ? 'for another key'
    : names.some(name => leaf.checkHost(name) === undefined)
      ? 'not for all names'
      : validityOf(leaf).validToMs <= nowMs
        ? 'expired, as this machine sees the time'
        : null;
  if (fault !== null) throw new AcmeError('protocol', `the certificate that was issued is ${fault}`);
}

function parsed(chain: string): X509Certificate {
  try {
    return new X509Certificate(chain);
  } catch {
    throw new AcmeError('protocol', 'what was issued is no certificate in PEM form');
  }
}

export function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, at) => name === other[at]);
}
