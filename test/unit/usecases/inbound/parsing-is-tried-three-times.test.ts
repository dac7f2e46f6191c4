import t from 'tap';
import { listMessages } from '../../../../src/usecases/mailbox/list-messages.js';
import { ALL_MAIL, withHouse } from '../with-house.js';
import { gaveUp, index, parsed } from '../with-parser.js';

t.test('then the message is failed, its raw bytes intact', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const id = await house.receive('raw', inbox);
  const start = house.now.ms;
  t.strictSame(await index(house, id, gaveUp('error')), { status: 'again', dueAt: start + 1_000 });
  t.match(house.message(id), { status: 'pending', tries: 1, parseDueAt: start + 1_000 });
  t.strictSame(house.pending(), [id], 'one entry, moved');
  house.now.ms = start + 1_000;
  t.strictSame(await index(house, id, gaveUp('worker_died')), { status: 'again', dueAt: start + 6_000 });
  house.now.ms = start + 6_000;
  t.strictSame(await index(house, id, gaveUp('memory')), { status: 'done' });
  t.match(house.message(id), {
    status: 'failed',
    tries: 3,
    failure: 'memory',
    processedAt: start + 6_000,
    raw: { size: 3 },
  });
  t.strictSame(house.pending(), []);
  const page = listMessages(house, {
    ...ALL_MAIL,
    accountId: house.account,
    inboxId: inbox,
    limit: 10,
    cursor: null,
  });
  const summary = JSON.parse(page.summaries[0]!.toString());
  t.equal(summary.processing_status, 'failed');
  t.notOk('from' in summary);
});

t.test('a try that works makes it ready', async t => {
  const house = await withHouse(t);
  const id = await house.receive('raw', await house.addInbox('agent'));
  await index(house, id, gaveUp('error'));
  await index(house, id, parsed());
  t.match(house.message(id), { status: 'ready', tries: 2, failure: null });
  t.strictSame(house.pending(), []);
});

t.test('running out of time is final at once', async t => {
  const house = await withHouse(t);
  const id = await house.receive('raw', await house.addInbox('agent'));
  t.strictSame(await index(house, id, gaveUp('timeout')), { status: 'done' });
  t.match(house.message(id), { status: 'failed', tries: 1, failure: 'timeout' });
});

t.test('a parse that was stopped was no try', async t => {
  const house = await withHouse(t);
  const id = await house.receive('raw', await house.addInbox('agent'));
  for (let n = 0; n < 5; n++) {
    t.strictSame(await index(house, id, async () => ({ status: 'stopped' })), { status: 'done' });
    t.match(house.message(id), { status: 'pending', tries: 0 });
    t.strictSame(house.pending(), [id]);
  }
});
