import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { settledWithin, within } from '../../../src/lib/async.js';

/** Work that ends when it is told to. */
function longWork() {
  let end: (value: string) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const work = new Promise<string>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  return { work, end, fail };
}

const timers = (): number => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length;

t.test('work that ends in time is what the wait comes to, and no timer is left', async t => {
  const before = timers();
  const { work, end } = longWork();
  const waited = within(60_000, work);
  t.equal(timers(), before + 1);
  end('done');
  t.equal(await waited, 'done');
  t.equal(timers(), before);
});

t.test('work that fails in time fails the wait, and no timer is left', async t => {
  const before = timers();
  const { work, fail } = longWork();
  const waited = within(60_000, work);
  fail(new Error('no'));
  await t.rejects(waited, /no/);
  t.equal(timers(), before);
});

t.test('work that does not is null, and what becomes of it later disturbs nobody', async t => {
  const late = longWork();
  t.equal(await within(1, late.work), null);
  late.fail(new Error('too late'));
  await turn();
  t.equal(await within(0, longWork().work), null, 'no time is a bound too');
});

t.test('all of several has to end, well or badly', async t => {
  const [one, other] = [longWork(), longWork()];
  let isSettled: boolean | undefined;
  const waited = settledWithin(60_000, [one.work, other.work]).then(value => {
    isSettled = value;
  });
  one.fail(new Error('no'));
  await turn();
  t.equal(isSettled, undefined);
  other.end('done');
  await waited;
  t.equal(isSettled, true);
  t.equal(await settledWithin(0, []), true, 'nothing has ended');
});

t.test('one of several that does not end is told of', async t => {
  const [one, other] = [longWork(), longWork()];
  one.end('done');
  t.equal(await settledWithin(1, [one.work, other.work]), false);
});
