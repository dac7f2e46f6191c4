import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { isLoopback } from '../domain/addresses.js';
import { DAY_MS } from '../domain/instants.js';
import { reasonOf } from '../lib/async.js';
import { readRetryAfter } from '../lib/retry-after.js';
import { AcmeError, detailOf, type Problem, typeOf } from './acme-error.js';

/** One answer of an authority; a chain of certificates has some kilobytes. */
const MAX_ANSWER_BYTES = 256 * 1024;
const REQUEST_MS = 30_000;
/** A nonce that the authority has forgotten is replaced this often (RFC 8555 section 6.5). */
const MAX_NONCE_TRIES = 4;
/** What a Retry-After may ask for at most. */
const MAX_RETRY_AFTER_MS = 7 * DAY_MS;

/** An answer, read to its end. */
export interface AcmeAnswer {
  readonly text: string;
  /** Where the resource is that was made; null without such a header. */
  readonly location: string | null;
  readonly retryAfterMs: number | null;
  readonly status: number;
}

export interface AcmeClientOptions {
  readonly directoryUrl: string;
  /** On P-256. */
  readonly accountKey: KeyObject;
  readonly userAgent: string;
  /** Ends what is going on. */
  readonly signal: AbortSignal;
}

interface Directory {
  readonly newNonce: string;
  readonly newAccount: string;
  readonly newOrder: string;
}

/**
 * What is said to an authority (RFC 8555): requests signed with the key of an account (ES256), nonces, and its errors.
 * Every answer is bounded in size and time; redirects are not followed; nothing is tried again here but a stale nonce.
 */
export class AcmeClient {
  readonly #options: AcmeClientOptions;
  readonly #jwk: { readonly crv: string; readonly kty: string; readonly x: string; readonly y: string };
  #directory: Directory | null = null;
  #nonce: string | null = null;
  #account: string | null = null;

  constructor(options: AcmeClientOptions) {
    this.#options = options;
    const { crv, kty, x, y } = createPublicKey(options.accountKey).export({ format: 'jwk' });
    if (crv !== 'P-256' || kty !== 'EC' || x === undefined || y === undefined) {
      throw new Error('the key of an account must be on P-256');
    }
    this.#jwk = { crv, kty, x, y };
  }

  /** Finds the account of the key, or opens one. The terms of service are agreed to with it. */
  async openAccount(contactEmail: string | null): Promise<void> {
    const contact = contactEmail === null ? [] : [`mailto:${contactEmail}`];
    const { newAccount } = await this.#directoryOf();
    const opened = await this.#post(newAccount, { termsOfServiceAgreed: true, contact });
    if (opened.location === null) throw new AcmeError('protocol', 'the authority did not name the account');
    this.#account = this.#checked(opened.location);
    // One that was there already keeps its contact (section 7.3.1).
    const known = asObject(opened.text).contact;
    const isSame = JSON.stringify(known ?? []) === JSON.stringify(contact);
    if (opened.status === 200 && !isSame) await this.#post(this.#account, { contact });
  }

  /** Orders a certificate for these names (section 7.4). */
  async newOrder(names: readonly string[]): Promise<AcmeAnswer> {
    const { newOrder } = await this.#directoryOf();
    return this.#post(newOrder, { identifiers: names.map(value => ({ type: 'dns', value })) });
  }

  /** Reads a resource (POST-as-GET, section 6.3). */
  get(url: string): Promise<AcmeAnswer> {
    return this.#post(this.#checked(url), null);
  }

  post(url: string, payload: object): Promise<AcmeAnswer> {
    return this.#post(this.#checked(url), payload);
  }

  /** What has to be served under the name of a token (section 8.1). */
  keyAuthorization(token: string): string {
    // In the order of RFC 7638 section 3.
    const { crv, kty, x, y } = this.#jwk;
    const thumbprint = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
    return `${token}.${thumbprint}`;
  }

  async #directoryOf(): Promise<Directory> {
    if (this.#directory !== null) return this.#directory;
    const { answer } = await this.#send(this.#options.directoryUrl, { method: 'GET' });
    const { newNonce, newAccount, newOrder } = asObject(answer.text);
    const url = (value: unknown): string => {
      if (typeof value !== 'string') {
        throw new AcmeError('protocol', `${this.#options.directoryUrl} is no directory of an ACME authority`);
      }
      return this.#checked(value);
    };
    this.#directory = {
      newNonce: url(newNonce),
      newAccount: url(newAccount),
      newOrder: url(newOrder),
    };
    return this.#directory;
  }

  async #post(url: string, payload: object | null): Promise<AcmeAnswer> {
    for (let tries = 1; ; tries++) {
      const nonce = this.#nonce ?? (await this.#newNonce());
      this.#nonce = null;
      const { answer, problem } = await this.#send(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/jose+json' },
        body: this.#signed(url, payload, nonce),
      });
      if (problem === null) return answer;
      const type = typeOf(problem);
      if (type === 'badNonce' && tries < MAX_NONCE_TRIES) continue;
      const detail = detailOf(problem) || `status ${answer.status}`;
      throw new AcmeError(type, detail, { retryAfterMs: answer.retryAfterMs });
    }
  }

  async #newNonce(): Promise<string> {
    const { newNonce } = await this.#directoryOf();
    await this.#send(newNonce, { method: 'HEAD' });
    if (this.#nonce === null) throw new AcmeError('protocol', 'the authority gave no nonce');
    return this.#nonce;
  }

  /** Flattened JWS (section 6.2). */
  #signed(url: string, payload: object | null, nonce: string): string {
    const who = this.#account === null ? { jwk: this.#jwk } : { kid: this.#account };
    const head = base64url(JSON.stringify({ alg: 'ES256', ...who, nonce, url }));
    const body = payload === null ? '' : base64url(JSON.stringify(payload));
    const signature = sign('sha256', Buffer.from(`${head}.${body}`), {
      key: this.#options.accountKey,
      dsaEncoding: 'ieee-p1363',
    });
    return JSON.stringify({ protected: head, payload: body, signature: signature.toString('base64url') });
  }

  async #send(
    url: string,
    init: RequestInit & { readonly method: string },
  ): Promise<{ answer: AcmeAnswer; problem: Problem | null }> {
    const { userAgent, signal } = this.#options;
    try {
      const response = await fetch(url, {
        ...init,
        headers: { ...init.headers, 'User-Agent': userAgent },
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
      });
      this.#nonce = response.headers.get('replay-nonce') ?? this.#nonce;
      const askedMs = readRetryAfter(response.headers.get('retry-after') ?? undefined, Date.now());
      const answer = {
        text: await readBounded(response),
        location: response.headers.get('location'),
        retryAfterMs: askedMs === null ? null : Math.min(askedMs, MAX_RETRY_AFTER_MS),
        status: response.status,
      };
      return { answer, problem: response.ok ? null : problemOf(answer) };
    } catch (error) {
      if (error instanceof AcmeError || signal.aborted) throw error;
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
      throw new AcmeError('network', `${new URL(url).host} does not answer: ${reasonOf(cause)}`);
    }
  }

  /** The authority may send us to addresses with TLS only, or on this machine. */
  #checked(url: string): string {
    const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' };
    if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return url;
    throw new AcmeError('protocol', 'the authority names an address without TLS');
  }
}

/** Rejects what is no JSON object. */
export function asObject(text: string): Readonly<Record<string, unknown>> {
  const value = parse(text);
  if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>;
  throw new AcmeError('protocol', 'the authority answers with something that is no JSON object');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function problemOf({ text, status }: AcmeAnswer): Problem {
  const value = parse(text);
  if (typeof value === 'object' && value !== null) return value;
  return { detail: `the authority answered with status ${status}` };
}

async function readBounded(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > MAX_ANSWER_BYTES) throw new AcmeError('protocol', 'the authority answers with too much');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function base64url(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64url');
}
