import { createHash } from 'node:crypto';
import { appendFileSync, existsSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { ParsedMessage } from '../../../src/mail/read/limits.js';
import { RESULTS_WAIT_MS, type ThreadSetup } from '../../../src/workers/parse-protocol.js';
import { serveParses } from '../../../src/workers/parse-thread-server.js';

/** Where the threads of this process write which messages they begin to parse, a line for each, if the file is there. */
export const ledgerFile = new URL(`./parses-begun-${process.pid}`, import.meta.url);

/**
 * A parser thread for tests: the first word of the message says how the parser misbehaves. Any other message is parsed
 * to content with the beginning of the message as its subject, and the SHA-256 of all of it as its text.
 */
const deeds: Record<string, (source: AsyncIterable<Uint8Array>) => Promise<void>> = {
  async spin() {
    for (;;);
  },
  async hang() {
    await new Promise(() => undefined);
  },
  async hog() {
    const hoard: object[] = [];
    for (;;) hoard.push({ at: hoard.length, text: `number ${hoard.length}` });
  },
  async buffers(source) {
    const hoard: Buffer[] = [];
    for await (const _chunk of source) hoard.push(Buffer.alloc(4 * 1024 * 1024, 1));
  },
  async throw() {
    throw new TypeError('cannot read "Dear Ann, the secret is"');
  },
  async uncaught() {
    setImmediate(() => {
      throw new Error('Dear Ann, the secret is');
    });
    await new Promise(() => undefined);
  },
  async exit() {
    process.exit(3);
  },
  /** Takes longer than a finished result waits for the next one. */
  async slow() {
    for (const endsAt = performance.now() + 5 * RESULTS_WAIT_MS; performance.now() < endsAt; );
  },
  /** Takes so long that it counts as large, and another thread is started beside it, however busy the machine is. */
  async linger() {
    await new Promise(resolve => setTimeout(resolve, 6_000));
  },
  /** Takes the thread down a while after it has been parsed. */
  async late() {
    setImmediate(() => process.exit(3));
  },
};

async function parse(source: AsyncIterable<Uint8Array>): Promise<ParsedMessage> {
  const iterator = source[Symbol.asyncIterator]();
  const first = await iterator.next();
  const text = first.done === true ? '' : Buffer.from(first.value).toString('latin1').slice(0, 200);
  const rest = { [Symbol.asyncIterator]: () => iterator };
  if (existsSync(ledgerFile)) appendFileSync(ledgerFile, `${text}\n`);
  const hash = createHash('sha256').update(first.value ?? '');
  await deeds[text.split(' ')[0] ?? '']?.(rest);
  for await (const chunk of rest) hash.update(chunk);
  const content = {
    subject: text,
    text: hash.digest('hex'),
    message_id: null,
    from: null,
    to: [],
    cc: [],
    bcc: [],
    attachments: [],
  };
  return {
    content,
    files: [],
    ids: { messageId: null, references: [], inReplyTo: [] },
  } as unknown as ParsedMessage;
}

if (parentPort !== null) serveParses(parentPort, parse, workerData as ThreadSetup);
