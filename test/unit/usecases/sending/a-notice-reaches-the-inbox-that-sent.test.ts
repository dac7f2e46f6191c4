import t from 'tap';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import { setPolicy } from '../../../../src/usecases/inboxes/policies.js';
import { sendNotice } from '../../../../src/usecases/sending/send-notice.js';
import { withReports } from '../inbound/with-reports.js';
import { DAY_MS } from '../with-house.js';
import { index, parseForReal } from '../with-parser.js';
import { noticed } from './notices.js';

const HOSTNAME = 'mail.example.org';

t.test('it joins the conversation of its message, and is no news to the delivery records', async t => {
  const house = await withReports(t);
  const sent = await house.sendTo(house.inboxId, 'ann@remote.example');
  const notice = { record: sent, recipients: [noticed({ state: 'unknown' })], retryUntil: 0 };
  const written: string[] = [];
  const outcome = await sendNotice({ ...house, hostname: HOSTNAME }, notice, () => written.push('told'));
  if (outcome.status !== 'delivered') throw new Error(outcome.status);
  t.strictSame(written, ['told']);
  t.strictSame(house.offered, [outcome.id]);
  const { news } = house;
  await index(house, outcome.id, parseForReal, { noteBounce: (_writer, one) => news.push(one) });
  t.match(house.message(outcome.id), {
    status: 'ready',
    envelopeFrom: '',
    envelopeTo: 'agent@example.org',
    inboxId: house.inboxId,
    threadId: sent.threadId,
    subject: 'Delivery uncertain: Hello',
  });
  t.strictSame(house.news, [], 'what may have arrived has not failed');
  t.strictSame(house.suppressed(), []);
  t.strictSame(verifyStore(house.store).faults, []);
});

t.test('receiving rules do not keep it out, and a full account has room for it', async t => {
  const house = await withReports(t);
  const sent = await house.sendTo(house.inboxId, 'ann@remote.example');
  const change = { enabled: true, domains: ['example.org'], addresses: ['postmaster@example.org'] };
  await setPolicy(house, { inbox: house.inboxId, kind: 'receiving', change });
  const full = { ...house.inbound, holdStorage: house.inbound.holdStorage };
  const asked: unknown[] = [];
  full.holdStorage = (recipient, bytes, isNotice) => {
    asked.push(isNotice);
    return house.inbound.holdStorage(recipient, bytes, isNotice);
  };
  const notice = { record: sent, recipients: [noticed()], retryUntil: 0 };
  const deps = { inbound: full, clock: house.clock, hostname: HOSTNAME };
  t.match(await sendNotice(deps, notice, () => {}), { status: 'delivered' });
  t.strictSame(asked, [true]);
});

t.test('it is there with what is written alongside, or neither is', async t => {
  const house = await withReports(t);
  const sent = await house.sendTo(house.inboxId, 'ann@remote.example');
  const notice = { record: sent, recipients: [noticed()], retryUntil: 0 };
  const failing = () => {
    throw new Error('no such delivery');
  };
  const deps = { ...house, hostname: HOSTNAME };
  await t.rejects(sendNotice(deps, notice, failing), /no such delivery/);
  t.strictSame(house.pending(), []);
  await house.sweepAll();
  t.strictSame(verifyStore(house.store).faults, []);
});

t.test('without room it waits, and without an inbox nobody is told', async t => {
  const house = await withReports(t);
  const sent = await house.sendTo(house.inboxId, 'ann@remote.example');
  const notice = { record: sent, recipients: [noticed()], retryUntil: 0 };
  const never = () => t.fail('nothing was taken in');
  const told = (inbound: Partial<typeof house.inbound>) =>
    sendNotice(
      { clock: house.clock, hostname: HOSTNAME, inbound: { ...house.inbound, ...inbound } },
      notice,
      never,
    );
  t.match(await told({ hasRoom: () => false }), { status: 'no_room' });
  t.match(await told({ holdStorage: () => null }), { status: 'no_room' });
  await deleteInbox(house, { accountId: house.account, inboxId: house.inboxId });
  t.match(await told({}), { status: 'gone' });
  house.now.ms += DAY_MS;
  await house.sweepAll();
  t.match(await told({}), { status: 'gone' });
  t.strictSame(verifyStore(house.store).faults, []);
});
