import t from 'tap';
import { Delays } from '../../../src/queue/delays.js';
import { newMessageIds } from '../../support/redis/redis.js';

t.test('an id has one delayed job, until it is taken', async t => {
  const delays = new Delays(10);
  const [id] = newMessageIds(1);
  const job = delays.enter(id!, 1_000);
  t.type(job, 'string');
  t.equal(delays.enter(id!, 5), null);
  delays.leave(job!);
  t.not(delays.enter(id!, 1_000) ?? job, job, 'the next has another name');
});

t.test('there are not more than fit; what Redis has lost gives room in the end', async t => {
  const delays = new Delays(2);
  const [one, two, three] = newMessageIds(3);
  t.ok(delays.enter(one!, 1_000));
  t.ok(delays.enter(two!, -120_000), 'long overdue');
  t.ok(delays.enter(three!, 1_000), 'in its place');
  t.equal(delays.enter(two!, 1_000), null);
  delays.clear();
  t.ok(delays.enter(two!, 1_000));
});
