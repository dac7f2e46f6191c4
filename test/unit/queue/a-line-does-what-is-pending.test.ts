import type { Test } from 'tap';
import t from 'tap';
import type { MessageId } from '../../../src/domain/ids.js';
import type { RedisAddress } from '../../../src/queue/connection.js';
import { WorkLine, type WorkLineOptions } from '../../../src/queue/work-line.js';
import { newMessageIds, PendingList, recordingLog, startRedis } from '../../support/redis/redis.js';
import { LANE, nowhere, spaceIn } from './with-queue.js';

const FOREVER_MS = 2 ** 30;

interface Work {
  readonly id: MessageId;
}

const work = (ids: readonly MessageId[]): Work[] => ids.map(id => ({ id }));

/** A work line over a list of pending ids. Its reconciler runs at the start and when Redis is back, not by interval. */
function openLine(
  t: Test,
  address: RedisAddress,
  options: Partial<WorkLineOptions<Work, MessageId>> = {},
): { line: WorkLine<Work, MessageId>; pending: PendingList } {
  const pending = new PendingList();
  const line = new WorkLine<Work, MessageId>({
    name: 'parse',
    redis: spaceIn(address),
    log: recordingLog(),
    places: { only: 16 },
    find: id => ({ id }),
    laneOf: () => LANE,
    intervalMs: FOREVER_MS,
    listPending: pending.list,
    handler: async id => {
      await pending.done(id);
      return undefined;
    },
    ...options,
  });
  t.teardown(() => line.close());
  return { line, pending };
}

t.test('what is offered, and what was pending before, is worked on once', async t => {
  const { redis } = await startRedis(t);
  const { line, pending } = openLine(t, redis.address);
  const before = pending.add(3);
  line.start();
  await line.whenReady(60_000);
  const offered = pending.add(2);
  line.offer(work(offered));
  await pending.untilAtMost(0);
  for (const id of [...before, ...offered]) t.equal(pending.timesHandled(id), 1);
});

t.test('what is offered while Redis is away is done when it comes back', async t => {
  const { redis } = await startRedis(t);
  const { line, pending } = openLine(t, redis.address);
  const ids = pending.add(5);
  line.offer(work(ids));
  t.equal(pending.size, 5, 'nobody has waited');
  line.start();
  await pending.untilAtMost(0);
});

t.test('a direct line works on what it is offered at once, whether Redis is there or not', async t => {
  const { line, pending } = openLine(t, nowhere, { isDirect: true });
  line.start();
  const [id] = pending.add(1);
  line.offer(work([id!]));
  await pending.untilAtMost(0);
  t.notOk(line.isReady);
});

t.test('as far as there is room: the rest waits in the queue', async t => {
  const { redis } = await startRedis(t);
  const begun: MessageId[] = [];
  let release = (): void => {};
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  const { line, pending } = openLine(t, redis.address, {
    isDirect: true,
    places: { only: 2 },
    handler: async id => {
      begun.push(id);
      await held;
      await pending.done(id);
      return undefined;
    },
  });
  line.start();
  await line.whenReady(60_000);
  const ids = pending.add(3);
  line.offer(work(ids));
  await new Promise(resolve => setImmediate(resolve));
  t.same(begun, ids.slice(0, 2));
  release();
  await pending.untilAtMost(0);
  t.same(begun, ids);
});

t.test('an id that is due again soon comes back without the reconciler', async t => {
  const { redis } = await startRedis(t);
  let tries = 0;
  const { line, pending } = openLine(t, redis.address, {
    handler: async id => {
      tries++;
      if (tries < 3) return tries === 1 ? -5 : 1;
      await pending.done(id);
      return undefined;
    },
  });
  pending.add(1);
  line.start();
  await pending.untilAtMost(0);
  t.equal(tries, 3);
});

t.test('one that is due later waits in Redis as a delayed job', async t => {
  const { redis } = await startRedis(t);
  const triedAt: number[] = [];
  const { line, pending } = openLine(t, redis.address, {
    isDirect: true,
    longestTimerMs: 0,
    handler: async id => {
      triedAt.push(performance.now());
      if (triedAt.length < 4) return 200;
      await pending.done(id);
      return undefined;
    },
  });
  line.start();
  await line.whenReady(60_000);
  line.offer(work(pending.add(1)));
  await pending.untilAtMost(0);
  t.equal(triedAt.length, 4);
  for (const at of [1, 2, 3]) t.ok(triedAt[at]! - triedAt[at - 1]! >= 190, 'not before its time');
});

t.test('from the call of close on no work is begun, and what is in hand is waited for', async t => {
  const { redis } = await startRedis(t);
  let begun = 0;
  let ended = 0;
  let release = (): void => {};
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  let isInFlight = (): void => {};
  const inFlight = new Promise<void>(resolve => {
    isInFlight = resolve;
  });
  const { line } = openLine(t, redis.address, {
    places: { only: 1 },
    isDirect: true,
    handler: async () => {
      begun++;
      isInFlight();
      await held;
      ended++;
      return undefined;
    },
  });
  line.start();
  await line.whenReady(60_000);
  line.offer(work(newMessageIds(2)));
  await inFlight;
  const closed = line.close();
  line.offer(work(newMessageIds(1)));
  release();
  await closed;
  t.same([begun, ended], [1, 1]);
});

t.test('without Redis nobody waits for it longer than they said', async t => {
  const { line } = openLine(t, nowhere);
  line.start();
  await line.whenReady(1);
  t.notOk(line.isReady);
  await line.close();
});
