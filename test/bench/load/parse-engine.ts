import { createInterface } from 'node:readline';
import { simpleParser } from 'mailparser';
import { parseMessage } from '../../../src/mail/read/parse-message.js';
import { ParsePool } from '../../../src/workers/parse-pool.js';
import { recordingLog } from '../../support/redis/redis.js';
import { buildCorpus, type Corpus, type EngineName, type ParseOrder } from './parse-corpus.js';
import type { Speed } from './run-engine.js';

/** A parser in its own process. Each line that it reads is an order, each line that it writes a result. */

const { engine } = JSON.parse(process.argv[2] ?? '') as { engine: EngineName };

/** The size of the chunks in which the store returns raw bytes. */
const PIECE = 64 * 1024;
/** The daemon has as many in flight for each thread, which gets them in batches. */
const IN_HAND: Readonly<Record<EngineName, number>> = { 'one worker': 64, parseMessage: 1, mailparser: 1 };

type Parse = (raw: Buffer) => Promise<unknown>;

async function openEngine(): Promise<Parse> {
  if (engine === 'mailparser') return raw => simpleParser(raw, FASTEST);
  if (engine === 'parseMessage') return raw => parseMessage(piecesOf(raw));
  const pool = new ParsePool({ workers: 1, timeoutMs: 60_000, memoryMib: 256, log: recordingLog() });
  await pool.start();
  return async raw => {
    const outcome = await pool.parse({
      size: raw.length,
      bytes: piecesOf(raw),
      readInto: target => target.set(raw),
      owner: 'bench',
    });
    if (outcome.status !== 'parsed') throw new Error(`a message of the corpus: ${outcome.status}`);
  };
}

/** Without its conversions between text and HTML, which makes it fastest. */
const FASTEST = { skipHtmlToText: true, skipTextToHtml: true, skipImageLinks: true, skipTextLinks: true };

async function* piecesOf(raw: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < raw.length; at += PIECE) yield raw.subarray(at, at + PIECE);
}

const corpora = new Map<Corpus, readonly Buffer[]>();

async function measure(parse: Parse, { corpus, durationMs }: ParseOrder): Promise<Speed> {
  const messages = corpora.get(corpus) ?? buildCorpus(corpus);
  corpora.set(corpus, messages);
  const startedAt = performance.now();
  const endsAt = startedAt + durationMs;
  let parsed = 0;
  let bytes = 0;
  let next = 0;
  const keepParsing = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const raw = messages[next++ % messages.length];
      if (raw === undefined) throw new Error('an empty corpus');
      await parse(raw);
      parsed += 1;
      bytes += raw.length;
    }
  };
  await Promise.all(Array.from({ length: IN_HAND[engine] }, keepParsing));
  const seconds = (performance.now() - startedAt) / 1000;
  return { perSecond: parsed / seconds, bytesPerSecond: bytes / seconds };
}

const parse = await openEngine();
for await (const line of createInterface({ input: process.stdin })) {
  const speed = await measure(parse, JSON.parse(line) as ParseOrder);
  process.stdout.write(`${JSON.stringify(speed)}\n`);
}
process.exit(0);
