import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import type { Test } from 'tap';
import type { ApiAnswer, ApiClient } from '../../support/box/api-client.js';
import { packageRoot } from '../../support/box/postern-box.js';

/**
 * A data directory of schema 3 and what clients were answered from it, kept as they were (README.md here).
 *
 * Both live at an instant of their own. Trash, allowances, keys, claim phrases and sends that wait all end by the
 * clock, so whoever serves this store must believe that it is `CLOCK_STARTS_AT` (`set-clock.ts`): two hours after
 * the last of it was written, whatever the calendar says. And whoever serves it has no Redis, so that what was to
 * be parsed or sent stays so while it is looked at.
 */
export interface Answers {
  readonly credentials: Readonly<Record<string, string>>;
  readonly requests: readonly RecordedRequest[];
  /** What commands say with `--json`. */
  readonly commands: readonly { readonly args: readonly string[]; readonly document: unknown }[];
  /** What `postern verify` counts once everything that had to be freed is freed. */
  readonly counts: Readonly<Record<string, number>>;
  /** Work that was left to do, and what it comes to when there is a Redis. */
  readonly later: Later;
}

export interface Question {
  /** Whose key is used. */
  readonly as: string;
  readonly path: string;
  /** Body of a POST that is repeated under its idempotency key: nothing that is asked here changes anything. */
  readonly post?: object;
}

export type RecordedRequest = Question & AnswerFacts;

export interface Later {
  /** Sends that wait for an admin, as `postern queue status` shows them. */
  readonly held: unknown;
  /** Messages that were not parsed, and the content that each then has. */
  readonly parsed: readonly { readonly as: string; readonly id: string; readonly content: unknown }[];
  /** The send that had not started, and who gets it. */
  readonly send: { readonly as: string; readonly id: string; readonly to: string; readonly inboxId: string };
  /** A claim phrase that nobody had redeemed. */
  readonly claim: { readonly phrase: string };
}

export const PAST = join(packageRoot, 'test/upgrade/schema-3');

export const CLOCK_STARTS_AT = Date.UTC(2026, 2, 4, 12);

const CLOCK = pathToFileURL(join(import.meta.dirname, 'set-clock.js')).href;

/** The environment of a program that is to believe that this is the time. */
export function clockEnv(startsAt: number): Record<string, string> {
  return { CLOCK_STARTS_AT: `${startsAt}`, NODE_OPTIONS: `--import=${CLOCK}` };
}

/** Nobody listens at this port. */
export const NO_REDIS = { POSTERN_REDIS_MODE: 'external', POSTERN_REDIS_URL: 'redis://127.0.0.1:1' };

export function readAnswers(): Answers {
  return JSON.parse(readFileSync(join(PAST, 'answers.json'), 'utf8')) as Answers;
}

/** The schemas that this store is kept in; the newer ones were made of it by programs of their day. */
export const KEPT_SCHEMAS = [3, 4, 5, 6, 7] as const;

/** A data directory as it was, removed after the test. */
export function unpackStore(t: Pick<Test, 'teardown'>, schema: (typeof KEPT_SCHEMAS)[number] = 3): string {
  const dataDir = mkdtempSync(join(tmpdir(), `schema-${schema}-`));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  mkdirSync(join(dataDir, 'store'));
  const bytes = brotliDecompressSync(
    readFileSync(join(packageRoot, `test/upgrade/schema-${schema}/store.mdb.br`)),
  );
  writeFileSync(join(dataDir, 'store/data.mdb'), bytes);
  return dataDir;
}

export function askAs(api: ApiClient, { path, post }: Question): Promise<ApiAnswer> {
  return post === undefined ? api.get(path) : api.post(path, post);
}

const HEADERS = [
  'content-type',
  'content-length',
  'content-disposition',
  'content-security-policy',
  'location',
  'etag',
];

const JSON_TYPE = 'application/json; charset=utf-8';

export interface AnswerFacts {
  readonly status: number;
  /** Those of `HEADERS` that are there; the type of JSON goes without saying. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** What there is to compare of an answer. The words of a failure are for people; its code is what counts. */
export function factsOf({ status, headers, bytes, code }: ApiAnswer): AnswerFacts {
  if (code !== undefined) return { status, headers: {}, body: { error: code } };
  const isJson = headers['content-type'] === JSON_TYPE;
  const shown = HEADERS.filter(name => headers[name] !== undefined && !(isJson && name === 'content-type'));
  return {
    status,
    headers: Object.fromEntries(shown.map(name => [name, `${headers[name]}`])),
    body: isJson ? condensed(JSON.parse(bytes.toString('utf8'))) : digest(bytes),
  };
}

const LONGEST_TEXT = 200;

/** The same with the digest in place of each long text: bodies, and files in base64. */
export function condensed(value: unknown): unknown {
  if (typeof value === 'string') return value.length > LONGEST_TEXT ? digest(Buffer.from(value)) : value;
  if (Array.isArray(value)) return value.map(condensed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, condensed(member)]));
}

function digest(bytes: Buffer): { readonly bytes: number; readonly sha256: string } {
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}
