import type { Test } from 'tap';
import t from 'tap';
import type { MessageId } from '../../../src/domain/ids.js';
import type { Lane } from '../../../src/queue/work-places.js';
import { newMessageIds, startRedis } from '../../support/redis/redis.js';
import { openQueue, startConsumer } from './with-queue.js';

/** A consumer with two ways whose work ends when it is told to. */
async function setUp(t: Test) {
  const { redis } = await startRedis(t);
  const lanes = new Map<MessageId, Lane>();
  const laneOf = (id: MessageId): Lane => lanes.get(id)!;
  const queue = await openQueue(t, redis.address, { laneOf });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const names = new Map<MessageId, string>();
  let wake = (): void => {};
  let taken = (): void => {};
  const consumer = startConsumer(
    t,
    redis.address,
    id =>
      new Promise<void>(resolve => {
        const name = names.get(id)!;
        begun.push(name);
        ends.set(name, resolve);
        wake();
      }),
    {
      places: { quick: 2, hanging: 2 },
      laneOf,
      closeTimeoutMs: 0,
      onTaken: job => {
        queue.taken(job);
        setImmediate(() => taken());
      },
      onDone: id => queue.done(id),
    },
  );
  /** Queues ids, which the consumer has taken over when it resolves. */
  const add = async (lane: Partial<Lane>, ...as: string[]): Promise<void> => {
    const ids = newMessageIds(as.length);
    for (const [at, id] of ids.entries()) {
      lanes.set(id, { way: 'quick', owner: 'ann', isAlone: false, ...lane });
      names.set(id, as[at]!);
    }
    const takenOver = new Promise<void>(resolve => {
      taken = resolve;
    });
    await queue.add(ids);
    await takenOver;
  };
  const untilBegun = async (count: number): Promise<string[]> => {
    while (begun.length < count) {
      await new Promise<void>(resolve => {
        wake = resolve;
      });
    }
    return begun.slice(-count);
  };
  /** Ends work; what is begun for it is known at once. */
  const end = async (name: string): Promise<string[]> => {
    ends.get(name)?.();
    await new Promise(resolve => setImmediate(resolve));
    return begun;
  };
  return { add, begun, untilBegun, end, consumer };
}

t.test('a way that hangs with all its places taken holds up no other', async t => {
  const { add, untilBegun } = await setUp(t);
  await add({ way: 'hanging' }, 'h1', 'h2', 'h3', 'h4');
  await add({}, 'q1');
  t.same(await untilBegun(3), ['h1', 'h2', 'q1']);
});

t.test('within a way the first id of another owner waits for one turn', async t => {
  const { add, untilBegun, end } = await setUp(t);
  await add({ owner: 'ann' }, 'a1', 'a2', 'a3', 'a4', 'a5');
  await untilBegun(2);
  await add({ owner: 'bob' }, 'b1', 'b2');
  await end('a1');
  await end('a2');
  await end('a3');
  t.same(await end('b1'), ['a1', 'a2', 'a3', 'b1', 'a4', 'b2']);
});

t.test('what must be alone runs when all others have ended, and then others have their turn', async t => {
  const { add, untilBegun, end } = await setUp(t);
  await add({}, 'a1', 'a2');
  await untilBegun(2);
  await add({ isAlone: true }, 'X', 'Y');
  await add({}, 'a3', 'a4', 'a5');
  await add({ way: 'hanging' }, 'h1');
  await end('a1');
  t.same(await end('a2'), ['a1', 'a2', 'X']);
  await untilBegun(3);
  t.same((await end('X')).slice(3).sort(), ['a3', 'a4', 'h1']);
  await end('a3');
  await end('a4');
  t.same((await end('h1')).slice(6), ['Y'], 'a5 waits for it');
  t.same((await end('Y')).slice(7), ['a5']);
});

t.test('work that only must be alone is begun one after the other', async t => {
  const { add, untilBegun, end } = await setUp(t);
  await add({ isAlone: true }, 'X', 'Y', 'Z');
  await untilBegun(1);
  await end('X');
  await end('Y');
  t.same(await untilBegun(3), ['X', 'Y', 'Z']);
});

t.test('it tells for how long a way has stood still, whatever goes on in others', async t => {
  const { add, untilBegun, end, consumer } = await setUp(t);
  await add({ way: 'hanging' }, 'h1');
  await untilBegun(1);
  const atFirst = consumer.stalledMs;
  await add({}, 'q1', 'q2');
  await untilBegun(3);
  await end('q1');
  await end('q2');
  t.ok(consumer.stalledMs > atFirst, 'the hanging one counts');
  const before = consumer.stalledMs;
  await end('h1');
  t.ok(consumer.stalledMs < before);
});
