import { type DueWork, END_OF_TIME, listDue, removePending } from '../store/pending.js';
import type { Writer } from '../store/reader-writer.js';
import { getSent } from '../store/sent.js';
import type { Store } from '../store/store.js';
import type { Clock } from './ports.js';
import { recordOutcome } from './record-outcome.js';
import { holdAttempt, mustBeHeld } from './start-attempt.js';

/** So many in one unit of work. */
const PAGE = 500;

/**
 * At boot, before anything is relayed: settles what an earlier process left (decisions, Sending). An attempt
 * that was started may have gone out: it is `unknown` for good. One that was not is started by the queue if it
 * is young enough; else it is held until an admin says otherwise.
 * @returns how many of each there were
 */
export async function recoverSends(deps: {
  readonly store: Store;
  readonly clock: Clock;
}): Promise<{ readonly unknown: number; readonly waiting: number; readonly held: number }> {
  const counts = { unknown: 0, waiting: 0, held: 0 };
  let after: Buffer | undefined;
  for (;;) {
    const page = deps.store.read(reader => listDue(reader, 'relay', END_OF_TIME, PAGE, after));
    if (page.length === 0) return counts;
    const nowMs = deps.clock();
    const states = await deps.store.write(writer => page.map(due => recoverSend(writer, due, nowMs)));
    for (const state of states) if (state !== 'gone') counts[state] += 1;
    after = page.at(-1)?.position;
  }
}

function recoverSend(
  writer: Writer,
  { work: { id }, dueAt }: DueWork<'relay'>,
  nowMs: number,
): 'unknown' | 'waiting' | 'held' | 'gone' {
  const record = getSent(writer, id);
  if (record?.attempt === 'started') {
    recordOutcome(writer, record, {
      status: 'unknown',
      errorCode: 'acceptance_unknown',
      detail: 'the process ended while the message was handed over',
    });
    return 'unknown';
  }
  // Nothing that has its outcome may be taken up again because of an entry that was left behind.
  if (record?.attempt !== 'reserved') {
    removePending(writer, { kind: 'relay', dueAt, id });
    return 'gone';
  }
  if (!mustBeHeld(record, nowMs)) return 'waiting';
  holdAttempt(writer, record);
  return 'held';
}
