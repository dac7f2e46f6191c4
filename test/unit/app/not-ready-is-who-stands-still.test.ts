import t from 'tap';
import { Readiness } from '../../../src/app/readiness.js';
import { withHouse } from '../usecases/with-house.js';

const MINUTE_MS = 60_000;

t.test('a backlog that is worked off is no reason, one that stands still is', async t => {
  const house = await withHouse(t);
  let stalledMs = 0;
  let isQueueReady = true;
  const readiness = new Readiness({
    ...house,
    isQueueReady: () => isQueueReady,
    parsingStalledMs: () => stalledMs,
  });
  stalledMs = 60 * MINUTE_MS;
  t.equal(await readiness.isReady(), true, 'nothing waits, though nothing has been parsed for an hour');
  await house.receive('raw', await house.addInbox('agent'));
  t.equal(await readiness.isReady(), true, 'what waits has just come');
  house.now.ms += 6 * MINUTE_MS;
  t.equal(await readiness.isReady(), false);
  stalledMs = 1_000;
  t.equal(await readiness.isReady(), true, 'others were parsed a second ago');
  isQueueReady = false;
  t.equal(await readiness.isReady(), false);
});
