import type { Test } from 'tap';
import t from 'tap';
import type { RedisAddress } from '../../../src/queue/connection.js';
import { MemoryRateLimiter, RedisRateLimiter } from '../../../src/queue/rate-limiter.js';
import type { RateLimit, RateLimiter } from '../../../src/usecases/ports.js';
import { type RecordingLog, recordingLog, startRedis } from '../../support/redis/redis.js';
import { nowhere } from './with-queue.js';

const LIMIT: RateLimit = { name: 'claims', max: 3, windowMs: 60_000 };

async function takeTimes(limiter: RateLimiter, times: number, key = 'a', limit = LIMIT): Promise<boolean[]> {
  const verdicts: boolean[] = [];
  for (let n = 0; n < times; n++) verdicts.push((await limiter.take(limit, key)).isAllowed);
  return verdicts;
}

/** As after a restart of the daemon: memory is empty. */
function fresh(t: Test, address: RedisAddress, log: RecordingLog = recordingLog()): RedisRateLimiter {
  const memory = new MemoryRateLimiter({ clock: Date.now });
  const limiter = new RedisRateLimiter({ redis: { address, prefix: 'postern:test' }, memory, log });
  t.teardown(() => limiter.close());
  limiter.start();
  return limiter;
}

/** The limiter has no event that tells that it is connected to Redis; its first count in Redis shows it. */
async function untilCounted(limiter: RedisRateLimiter, isCounted: () => Promise<boolean>): Promise<void> {
  const limit = { name: 'probe', max: 1_000_000, windowMs: 60_000 };
  do await limiter.take(limit, 'probe');
  while (!(await isCounted()));
}

t.test('in memory: so many in any window, each key and limit by itself', async t => {
  const now = { ms: 1_000_000 };
  const limiter = new MemoryRateLimiter({ clock: () => now.ms });
  t.same(await takeTimes(limiter, 4), [true, true, true, false]);
  t.same(await takeTimes(limiter, 1, 'b'), [true], 'another key');
  t.same(await takeTimes(limiter, 1, 'a', { ...LIMIT, name: 'signups' }), [true], 'another limit');
  now.ms += 59_999;
  t.same(await limiter.take(LIMIT, 'a'), { isAllowed: false, retryAfterMs: 1 });
  now.ms += 1;
  t.same(await takeTimes(limiter, 4), [true, true, true, false], 'who waited is let through');
});

t.test('in memory: the window slides', async t => {
  const now = { ms: 1_000_000 };
  const limiter = new MemoryRateLimiter({ clock: () => now.ms });
  for (const wait of [0, 30_000, 29_000]) {
    now.ms += wait;
    t.ok((await limiter.take(LIMIT, 'a')).isAllowed);
  }
  now.ms += 2_000;
  t.same(await takeTimes(limiter, 2), [true, false], 'only the first has left the window');
});

t.test('in memory: a clock that is set back keeps nobody out for longer', async t => {
  const now = { ms: 10_000_000 };
  const limiter = new MemoryRateLimiter({ clock: () => now.ms });
  await takeTimes(limiter, 3);
  now.ms -= 5_000_000;
  t.same(await takeTimes(limiter, 1), [true]);
});

t.test('in memory: the number of keys is bounded', async t => {
  const limiter = new MemoryRateLimiter({ clock: () => 1, maxKeys: 100 });
  await takeTimes(limiter, 3, 'busy');
  for (let n = 0; n < 99; n++) await limiter.take(LIMIT, `key ${n}`);
  t.same(await takeTimes(limiter, 1, 'busy'), [false], 'still known');
  for (let n = 0; n < 99; n++) await limiter.take(LIMIT, `other ${n}`);
  t.same(await takeTimes(limiter, 1, 'busy'), [false], 'asking keeps it known');
  for (let n = 0; n < 100; n++) await limiter.take(LIMIT, `third ${n}`);
  t.same(await takeTimes(limiter, 1, 'busy'), [true], 'then it is forgotten');
});

t.test('in Redis: counts outlive the process, and Redis forgets them by itself', async t => {
  const { redis, client } = await startRedis(t);
  const isCounted = async () => (await client.keys('postern:test:limit:probe:*')).length > 0;
  const before = fresh(t, redis.address);
  await untilCounted(before, isCounted);
  t.same(await takeTimes(before, 2, 'ann@example.org'), [true, true]);
  const [key = ''] = await client.keys('postern:test:limit:claims:*');
  t.notMatch(key, /ann/, 'whom it is about is not in it');
  const lifeMs = await client.pttl(key);
  t.ok(lifeMs > 0 && lifeMs <= LIMIT.windowMs);
  await client.del(...(await client.keys('postern:test:limit:probe:*')));
  const after = fresh(t, redis.address);
  await untilCounted(after, isCounted);
  t.same(await takeTimes(after, 2, 'ann@example.org'), [true, false]);
  const refusal = await after.take(LIMIT, 'ann@example.org');
  t.match(refusal, { isAllowed: false, retryAfterMs: Number });
  t.ok(!refusal.isAllowed && refusal.retryAfterMs > 0 && refusal.retryAfterMs <= LIMIT.windowMs);
});

t.test('in Redis: what has left the window is let through', async t => {
  const { redis, client } = await startRedis(t);
  const limiter = fresh(t, redis.address);
  await untilCounted(limiter, async () => (await client.keys('*:probe:*')).length > 0);
  await takeTimes(limiter, 1, 'z');
  const [key = ''] = await client.keys('postern:test:limit:claims:*');
  const [seconds] = (await client.time()) as unknown as [string, string];
  const longAgo = Number(seconds) * 1000 - 61_000;
  await client.del(key);
  await client.rpush(key, longAgo, longAgo + 500, Number(seconds) * 1000);
  const other = fresh(t, redis.address);
  await untilCounted(other, async () => (await client.llen((await client.keys('*:probe:*'))[0] ?? '')) > 1);
  t.same(await takeTimes(other, 3, 'z'), [true, true, false]);
});

t.test('without Redis memory goes on alone, at once', async t => {
  const limiter = fresh(t, nowhere);
  t.same(await takeTimes(limiter, 4), [true, true, true, false]);
});

t.test('a Redis that goes takes nothing away, and is used again when it is back', async t => {
  const { redis, client, killAndAwaitRestart } = await startRedis(t);
  const log = recordingLog();
  const limiter = fresh(t, redis.address, log);
  await untilCounted(limiter, async () => (await client.keys('*:probe:*')).length > 0);
  t.same(await takeTimes(limiter, 3), [true, true, true]);
  const back = log.hear(/limiter connection .* is back/);
  await killAndAwaitRestart();
  t.same(await takeTimes(limiter, 1), [false]);
  await back;
  t.same(await takeTimes(limiter, 1, 'b'), [true]);
  t.equal((await client.keys('postern:test:limit:claims:*')).length >= 1, true);
});

t.test('a Redis that does not answer keeps nobody waiting', async t => {
  const { redis, client } = await startRedis(t);
  const limiter = fresh(t, redis.address);
  await untilCounted(limiter, async () => (await client.keys('*:probe:*')).length > 0);
  process.kill(redis.pid!, 'SIGSTOP');
  t.same(await takeTimes(limiter, 4), [true, true, true, false]);
  process.kill(redis.pid!, 'SIGCONT');
  t.equal(await client.ping(), 'PONG');
});

t.test('in Redis: uses of a clock that was set back keep nobody out', async t => {
  const { redis, client } = await startRedis(t);
  const limiter = fresh(t, redis.address);
  await untilCounted(limiter, async () => (await client.keys('postern:test:limit:probe:*')).length > 0);
  await limiter.take(LIMIT, 'a');
  const [key = ''] = await client.keys('postern:test:limit:claims:*');
  const inAYear = Date.now() + 365 * 86_400_000;
  await client.rpush(key, inAYear, inAYear + 1);
  t.same(await takeTimes(limiter, 3), [true, true, false], 'only the use of now counts');
  t.ok((await client.pttl(key)) <= LIMIT.windowMs);
});

t.test('in Redis: a key that holds something else starts anew', async t => {
  const { redis, client } = await startRedis(t);
  const limiter = fresh(t, redis.address);
  await untilCounted(limiter, async () => (await client.keys('postern:test:limit:probe:*')).length > 0);
  await limiter.take(LIMIT, 'a');
  const [key = ''] = await client.keys('postern:test:limit:claims:*');
  await client.set(key, 'x');
  do await limiter.take({ ...LIMIT, max: 1_000_000 }, 'a');
  while ((await client.type(key)) !== 'list');
  t.equal(await client.llen(key), 1);
});
