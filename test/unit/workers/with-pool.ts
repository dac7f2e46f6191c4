import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Test } from 'tap';
import type { ParseOutcome, ParseSource } from '../../../src/usecases/ports.js';
import { ParsePool, type ParsePoolOptions } from '../../../src/workers/parse-pool.js';
import { SMALL_MESSAGE } from '../../../src/workers/parse-protocol.js';
import { type RecordingLog, recordingLog } from '../../support/redis/redis.js';
import { ledgerFile } from './unruly-thread.js';

const unrulyThread = new URL('./unruly-thread.js', import.meta.url);

export interface TestPool {
  readonly pool: ParsePool;
  readonly log: RecordingLog;
  /** Parses a short message; see `unruly-thread.ts` for what its first word does. */
  parse(text: string): Promise<ParseOutcome>;
}

/** A pool of unruly threads, stopped after the test. */
export async function startPool(t: Test, options: Partial<ParsePoolOptions> = {}): Promise<TestPool> {
  const log = recordingLog();
  const limits = { workers: 1, timeoutMs: 30_000, memoryMib: 64, load: { isBusy: false } };
  const pool = new ParsePool({ ...limits, log, script: unrulyThread, ...options });
  t.teardown(() => pool.stop());
  await pool.start();
  return {
    pool,
    log,
    parse: text => pool.parse(small(text)),
  };
}

/** Lets the threads of this test write down which messages they begin to parse. @returns reads what they wrote */
export function keepLedger(t: Test): () => string[] {
  writeFileSync(ledgerFile, '');
  t.teardown(() => rmSync(ledgerFile, { force: true }));
  return () => readFileSync(ledgerFile, 'latin1').split('\n').slice(0, -1);
}

/** A message to be parsed, large enough not to share a thread with others; one of always the same owner. */
export function letter(bytes: AsyncIterable<Uint8Array>, fields: Partial<ParseSource> = {}): ParseSource {
  const readInto = (): void => {
    throw new Error('a large message is read in pieces');
  };
  return { bytes, size: SMALL_MESSAGE + 1, readInto, owner: 'ann', ...fields };
}

/** A message that is as long as it is, whichever way that is read. */
export function small(content: string | Uint8Array, fields: Partial<ParseSource> = {}): ParseSource {
  const bytes = Buffer.from(content as string, 'latin1');
  const readInto = (target: Uint8Array): void => target.set(bytes);
  return letter(chunks(bytes), { size: bytes.length, readInto, ...fields });
}

export async function* chunks(...parts: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === 'string' ? Buffer.from(part, 'latin1') : part;
}

/** The subject of a parsed message, as the thread's JSON gives it. */
export function subjectOf(outcome: ParseOutcome): unknown {
  if (outcome.status !== 'parsed') return outcome;
  return JSON.parse(Buffer.from(outcome.prepared.json).toString()).subject;
}

/** A promise and the functions to settle it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  return { opened, open };
}
