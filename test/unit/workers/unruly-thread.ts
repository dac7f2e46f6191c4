import { appendFileSync, existsSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { AttachmentSink, ParsedMessage } from '../../../src/mail/read/limits.js';
import type { ThreadSetup } from '../../../src/workers/parse-protocol.js';
import { serveParses } from '../../../src/workers/parse-thread-server.js';

/** Where the threads of this process write which messages they begin to parse, a line for each, if the file is there. */
export const ledgerFile = new URL(`./parses-begun-${process.pid}`, import.meta.url);

/**
 * A parser thread for tests: the first word of the message says how the parser misbehaves. Any other message is parsed
 * to content with the text of the message as its subject.
 */
const deeds: Record<string, (source: AsyncIterable<Uint8Array>, sink: AttachmentSink) => Promise<void>> = {
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
  async buffers(_source, sink) {
    const hoard: Buffer[] = [];
    await sink.begin('1');
    for (;;) {
      hoard.push(Buffer.alloc(1024 * 1024, 1));
      await sink.write(Buffer.alloc(128 * 1024));
    }
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
  /** Takes the thread down a while after it has been parsed. */
  async late() {
    setImmediate(() => process.exit(3));
  },
  /** An attachment of as many KiB as the second word says, in pieces of all sizes. */
  async attach(_source, sink) {
    await sink.begin('1');
    let size = 0;
    for (let piece = 1; size < 3_000_000; piece = (piece * 7 + 1) % 90_001) {
      await sink.write(Buffer.alloc(piece, size % 251));
      size += piece;
    }
    await sink.end(size);
  },
  /** Reads everything and writes it to the sink. */
  async copy(source, sink) {
    await sink.begin('1');
    let size = 0;
    for await (const chunk of source) {
      size += chunk.byteLength;
      await sink.write(Buffer.from(chunk));
    }
    await sink.end(size);
  },
};

async function parse(source: AsyncIterable<Uint8Array>, sink: AttachmentSink): Promise<ParsedMessage> {
  const iterator = source[Symbol.asyncIterator]();
  const first = await iterator.next();
  const text = first.done === true ? '' : Buffer.from(first.value).toString('latin1').slice(0, 200);
  const rest = { [Symbol.asyncIterator]: () => iterator };
  if (existsSync(ledgerFile)) appendFileSync(ledgerFile, `${text}\n`);
  await deeds[text.split(' ')[0] ?? '']?.(rest, sink);
  for await (const _chunk of rest);
  const content = { subject: text, message_id: null, from: null, to: [], cc: [], bcc: [], attachments: [] };
  return { content, ids: { messageId: null, references: [], inReplyTo: [] } } as unknown as ParsedMessage;
}

if (parentPort !== null) serveParses(parentPort, parse, workerData as ThreadSetup);
