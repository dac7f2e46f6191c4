import t from 'tap';
import type { Lane, PlaceLimits, WorkId } from '../../../src/queue/work-places.js';
import { WorkPlaces } from '../../../src/queue/work-places.js';
import { newMessageIds } from '../../support/redis/redis.js';

const LIMIT = 3;

/** Twelve places whose work ends when it is told to. */
function setUp(limits: PlaceLimits = { perDestination: () => LIMIT }) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const names = new Map<WorkId, string>();
  const places = new WorkPlaces(
    { deliver: 12 },
    id =>
      new Promise<void>(resolve => {
        const name = names.get(id)!;
        begun.push(name);
        ends.set(name, resolve);
      }),
    limits,
  );
  const lane = (owner: string, destination: string): Lane => ({
    way: 'deliver',
    owner,
    destination,
    isAlone: false,
  });
  const name = (as: string): WorkId => {
    const [id] = newMessageIds(1);
    names.set(id!, as);
    return id!;
  };
  const add = (owner: string, destination: string, count: number): void => {
    const ids = Array.from({ length: count }, (_, at) => name(`${owner} ${destination} ${at}`));
    places.add(ids.map(id => [id, lane(owner, destination)]));
  };
  const end = async (as: string): Promise<void> => {
    ends.get(as)?.();
    await new Promise(resolve => setImmediate(resolve));
  };
  const of = (prefix: string): number => begun.filter(one => one.startsWith(prefix)).length;
  return { places, add, end, of, begun, name, lane };
}

t.test('a destination that never ends has its places and no more, however many messages wait', async t => {
  const { add, of, begun, end } = setUp();
  add('ann', 'tar.example', 500);
  t.equal(of('ann tar.example'), LIMIT);
  add('ann', 'good.example', 1);
  add('bob', 'other.example', 1);
  t.same(begun.slice(LIMIT), ['ann good.example 0', 'bob other.example 0']);
  await end('ann tar.example 1');
  t.equal(begun.at(-1), 'ann tar.example 3', 'in order');
});

t.test('a destination is one for all owners', async t => {
  const { add, of } = setUp();
  for (const owner of ['ann', 'bob', 'cleo', 'dan']) add(owner, 'tar.example', 50);
  t.equal(of(''), LIMIT);
});

t.test('an owner has as many places as are free, so that others find some', async t => {
  const { add, of } = setUp();
  for (let n = 0; n < 40; n++) add('ann', `d${n}.example`, 10);
  t.equal(of('ann'), 6);
  for (let n = 0; n < 40; n++) add('bob', `e${n}.example`, 10);
  t.equal(of('bob'), 3);
  add('cleo', 'good.example', 1);
  t.equal(of('cleo'), 1);
});

t.test('work may begin at once past what waits for other places', async t => {
  const { places, add, name, lane } = setUp();
  add('ann', 'tar.example', 20);
  t.notOk(places.takeNow(name('no'), lane('ann', 'tar.example')));
  t.ok(places.takeNow(name('yes'), lane('bob', 'good.example')));
});

t.test('a destination that rests begins nothing until it is told that it may', async t => {
  let limit = 0;
  const { places, add, of } = setUp({ perDestination: () => limit });
  add('ann', 'slow.example', 20);
  t.equal(of(''), 0);
  limit = 2;
  places.admit();
  t.equal(of(''), 2);
});
