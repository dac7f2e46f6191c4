import type { MessageId } from '../domain/ids.js';
import { getMessage, saveMessage } from '../store/messages.js';
import { END_OF_TIME, listDue, removePending } from '../store/pending.js';
import type { Reader, Writer } from '../store/reader-writer.js';
import type { Store } from '../store/store.js';
import { failMessage } from './index-message.js';
import type { Clock } from './ports.js';
import { encodeSummary } from './received-view.js';

/**
 * How often the process may end while it parses one message before the message gets the blame. Far above
 * the three tries: a power cut or an upgrade is not the message's fault, a message that takes the whole
 * process down each time is.
 */
const MAX_INTERRUPTIONS = 10;

/**
 * All that was in hand when the process ended is counted as interrupted, because nobody knows which message
 * was to blame. From so many interruptions on a message is parsed while no other is in hand, so that the
 * innocent get ready and only the culprit is counted on.
 */
const ALONE_FROM = 2;

const PAGE = 500;

/** Must nothing else be parsed while this message is? */
export function isParsedAlone(reader: Reader, id: MessageId): boolean {
  return (getMessage(reader, id)?.interruptions ?? 0) >= ALONE_FROM;
}

/**
 * At boot: messages that a process was parsing when it ended return to `pending` (decisions, Received
 * mail). Their pending entries never went away.
 * @returns how many there were
 */
export async function recoverParsing(deps: { store: Store; clock: Clock }): Promise<number> {
  let recovered = 0;
  let after: Buffer | undefined;
  for (;;) {
    // Entries of the future included: a message in hand may wait for its next try.
    const page = deps.store.read(reader => listDue(reader, 'parse', END_OF_TIME, PAGE, after));
    for (const { work, dueAt } of page) {
      const isProcessing = deps.store.read(reader => getMessage(reader, work.id)?.status === 'processing');
      if (isProcessing) {
        await deps.store.write(writer => returnToPending(writer, work.id, dueAt, deps.clock()));
        recovered += 1;
      }
    }
    after = page.at(-1)?.position;
    if (page.length < PAGE) return recovered;
  }
}

function returnToPending(writer: Writer, id: MessageId, dueAt: number, nowMs: number): void {
  const record = getMessage(writer, id);
  if (record === undefined) {
    removePending(writer, { kind: 'parse', dueAt, id });
    return;
  }
  const interruptions = record.interruptions + 1;
  if (interruptions >= MAX_INTERRUPTIONS) {
    failMessage(writer, { ...record, interruptions }, 'worker_died', nowMs);
    return;
  }
  const returned = {
    ...record,
    status: 'pending' as const,
    tries: Math.max(0, record.tries - 1),
    interruptions,
  };
  saveMessage(writer, record, returned, encodeSummary(returned));
}
