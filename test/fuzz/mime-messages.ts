import type { ParseOutcome } from '../../src/usecases/ports.js';
import { ParsePool } from '../../src/workers/parse-pool.js';
import { SMALL_MESSAGE } from '../../src/workers/parse-protocol.js';
import { readEncodedFile } from '../support/letters/encoded-file.js';
import { recordingLog } from '../support/redis/redis.js';
import { checkContent } from './check-content.js';
import type { FuzzOptions, FuzzReport } from './fuzz-report.js';
import { messageCorpus } from './mime-corpus.js';
import { mutate } from './mutate.js';
import { type Random, randomFor } from './random.js';

const THREADS = 2;
const TIME_LIMIT_MS = 20_000;
const MEMORY_MIB = 256;

const TOKENS = [
  '\r\n',
  '\r\n\r\n',
  '\n',
  '\r',
  '--',
  '--b1',
  '--b2--',
  '\0',
  '\x1b$B',
  '=',
  '=\r\n',
  '=3D',
  '=?',
  '?=',
  '=?utf-8?B?',
  '=?x?Q?=0d=0a?=',
  ';',
  ':',
  '"',
  '\\',
  '(',
  ')',
  '<',
  '>',
  ',',
  '@',
  '*0*=',
  "utf-8''",
  '%00',
  '%0d%0a',
  '..',
  '/',
  'Content-Type: multipart/mixed; boundary=b1\r\n',
  'Content-Type: message/rfc822\r\n',
  'charset=',
  'filename=',
  'name=',
  'Content-Transfer-Encoding: base64\r\n',
  'Subject: \r\n',
  'From: ',
  ' \r\n',
  '\r\n ',
  '\xff\xfe',
  '\xe2\x80\xae',
];

/**
 * Passes mutated messages through the parser's threads, as the daemon does. What must hold: each message settles within
 * the limits; the content has the form that `getMessage` promises, without control characters in header values; and
 * attachments, decoded from the message, have the bytes that the parser has decoded.
 */
export async function fuzzMessages({ seed, count, seconds, report }: FuzzOptions): Promise<FuzzReport> {
  const corpus = messageCorpus();
  const pool = new ParsePool({
    workers: THREADS,
    timeoutMs: TIME_LIMIT_MS,
    memoryMib: MEMORY_MIB,
    log: recordingLog(),
  });
  await pool.start();
  const failures: string[] = [];
  const stopAtMs = Date.now() + seconds * 1000;
  let next = 0;
  let slowestMs = 0;
  const worker = async (): Promise<void> => {
    while (next < count && Date.now() < stopAtMs) {
      const index = next++;
      const random = randomFor(seed, index);
      const raw = writeMessage(random, corpus);
      const startedAtMs = performance.now();
      const problems = await tryMessage(pool, raw, random);
      slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
      failures.push(...problems.map(problem => `message ${index}: ${problem}`));
      if ((index + 1) % 5000 === 0) report(`${index + 1} messages`);
    }
  };
  await Promise.all(Array.from({ length: THREADS }, worker));
  await pool.stop();
  return { tried: next, failures, figures: { slowestMs: Math.round(slowestMs), corpus: corpus.length } };
}

/** A mutated message of the corpus, sometimes with a part of another message in it. */
export function writeMessage(random: Random, corpus: readonly Buffer[]): Buffer {
  const first = random.pick(corpus);
  const second = random.pick(corpus);
  const raw = random.oneIn(4)
    ? Buffer.concat([
        first.subarray(0, random.below(first.length)),
        second.subarray(random.below(second.length)),
      ])
    : first;
  return mutate(raw, random, TOKENS);
}

async function tryMessage(pool: ParsePool, raw: Buffer, random: Random): Promise<string[]> {
  let outcome: ParseOutcome;
  try {
    outcome = await pool.parse({
      // Some as large ones, which are passed in pieces.
      size: random.oneIn(2) ? raw.length : SMALL_MESSAGE + 1,
      bytes: pieces(raw, random),
      readInto: target => target.set(raw),
      owner: 'fuzz',
    });
  } catch (error) {
    return [`rejected: ${String(error)}`];
  }
  if (outcome.status !== 'parsed') return [JSON.stringify(outcome)];
  const { prepared } = outcome;
  const problems = checkContent(prepared);
  for (const file of prepared.attachments) {
    await readEncodedFile(raw, file).catch((error: Error) => problems.push(error.message));
  }
  return problems;
}

async function* pieces(raw: Buffer, random: Random): AsyncGenerator<Uint8Array> {
  const size = 1 + random.below(random.oneIn(3) ? 50 : 70_000);
  for (let at = 0; at < raw.length; at += size) yield Buffer.from(raw.subarray(at, at + size));
}
