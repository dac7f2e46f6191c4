import type { Test } from 'tap';
import t from 'tap';
import type { SendReceipt } from '../../../../src/contract/sent.js';
import { StoreFailedError } from '../../../../src/store/engine/store.js';
import { CHUNK_BYTES } from '../../../../src/store/records/blobs.js';
import type { RelayOutcome } from '../../../../src/usecases/ports.js';
import { recoverSends } from '../../../../src/usecases/sending/attempt.js';
import { recoverUploads } from '../../../../src/usecases/upkeep/sweep.js';
import { ACCEPTED, REFUSED } from '../../../support/sending/scripted-relay.js';
import { pattern } from '../../store/with-blobs.js';
import { failingAt } from './failing-store.js';
import { faultsOf, receiptOf, type SendingHouse, withSending } from './with-sending.js';

/** Body and file are uploads of several chunks, so that there are many units of work to fail. */
const FIELDS = {
  text: 'long '.repeat(CHUNK_BYTES / 2),
  attachments: [{ filename: 'a.bin', type: 'a/b', content: pattern(3 * CHUNK_BYTES).toString('base64') }],
  idempotency_key: 'once',
};

/** One send on a store that fails at its `at`th unit of work: the answer, and the step that failed. */
async function sendFailing(house: SendingHouse, at: number, fate: 'lost' | 'landed') {
  const failing = failingAt(house.store, at, fate);
  house.restart(failing.store);
  const told: SendReceipt | StoreFailedError = await receiptOf(house.submit(FIELDS)).catch(error => error);
  await house.side.workAll();
  return { told, hasFailed: failing.writes() >= at };
}

/** What the supervisor does next: the process starts again, on what the disk really holds. */
async function startAgain(house: SendingHouse): Promise<void> {
  house.restart();
  await recoverUploads(house);
  await recoverSends(house);
  house.side.kept.push(...house.pendingRelays());
  await house.side.workAll();
  await house.sweepAll();
}

async function failAt(t: Test, at: number, fate: 'lost' | 'landed', outcome: RelayOutcome): Promise<boolean> {
  const house = await withSending(t);
  house.relay.answer = outcome;
  const { told, hasFailed } = await sendFailing(house, at, fate);
  if (!hasFailed) return false;
  const wasHandedOver = house.relay.ids.length === 1;
  if (told instanceof StoreFailedError) {
    t.notOk(wasHandedOver, 'an attempt that is not known to be reserved is not handed over');
  } else {
    const { status } = told.message;
    t.equal(status, wasHandedOver ? outcome.status : 'unknown', 'what is known is told');
    t.equal(told.outcome_persisted, !wasHandedOver, 'and whether it is kept');
  }
  t.ok(house.side.failures.every(error => error instanceof StoreFailedError));
  t.equal(house.side.send.inFlight.bytes, 0);

  await startAgain(house);
  const retry = await receiptOf(house.submit(FIELDS));
  t.equal(house.relay.ids.length <= 1, true, 'the relay saw it once at most');
  const record = house.sent(retry.message.id)!;
  t.equal(record.attempt, 'settled');
  const isLost = record.status === 'unknown';
  t.equal(record.status, isLost ? 'unknown' : outcome.status);
  t.equal(record.errorCode === 'acceptance_unknown', isLost);
  t.equal(house.used(), record.status === 'rejected' ? 0 : 1, 'charged as it ended');
  t.equal(house.relay.ids.length === 1 || isLost, true, 'and it went out, unless nobody knows');
  if (!(told instanceof StoreFailedError)) t.equal(retry.message.id, told.message.id, 'the same attempt');
  await house.sweepAll();
  t.same(faultsOf(house), []);
  return true;
}

for (const fate of ['lost', 'landed'] as const) {
  for (const outcome of [ACCEPTED, REFUSED]) {
    t.test(`whichever unit fails and is ${fate}, a message that is ${outcome.status}`, async t => {
      let at = 1;
      let isMore = true;
      for (; isMore; at++) {
        await t.test(`unit ${at}`, async t => {
          isMore = await failAt(t, at, fate, outcome);
        });
      }
      t.ok(at > 8, `${at} units`);
    });
  }
}
