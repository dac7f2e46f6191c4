import t from 'tap';
import { saysNoSuchAddress } from '../../src/domain/delivery-reports.js';
import { suppressedRecipients } from '../../src/store/records/suppressions.js';
import { verifyStore } from '../../src/store/verify/verify-store.js';
import { RECORDED_ANSWERS, RECORDED_REPORTS } from '../support/letters/reports.js';
import { dsn, failed, renameByRelay, withReports } from '../unit/usecases/inbound/with-reports.js';
import { index, parseForReal } from '../unit/usecases/with-parser.js';

const ANN = 'Ann@remote.example';
const BOB = 'bob@remote.example';

t.test('only a report to the inbox that sent the message, about a recipient of it, counts', async t => {
  const house = await withReports(t);
  const { inboxId, news } = house;
  const sibling = await house.addInbox('sibling');
  const stranger = await house.addInbox('stranger', await house.addAccount('stranger@elsewhere.example'));
  const sent = await house.sendTo(inboxId, ANN, BOB);
  const { messageId } = sent;
  const [id = ''] = messageId.split('@');
  const nothing = async (text: string, why: string, to = inboxId) => {
    const report = await house.report(text, to);
    t.equal(house.message(report)?.status, 'ready', `${why}: it is mail all the same`);
    t.strictSame([news.length, house.suppressed().length], [0, 0], why);
  };
  await nothing(dsn(messageId, failed(ANN)), 'another inbox of the account', sibling);
  await nothing(dsn(messageId, failed(ANN)), 'another account', stranger);
  await nothing(dsn(`${id}@elsewhere.example`, failed(ANN)), 'the id with another domain');
  await nothing(dsn(id, failed(ANN)), 'the id alone');
  await nothing(dsn(id.replace(/.$/, 'x'), failed(ANN)), 'no id');
  await nothing(dsn('1@example.org', failed(ANN)), 'an unknown Message-ID');
  await nothing(dsn(messageId, failed('carl@remote.example')), 'a recipient that the message does not have');
  await nothing(dsn(messageId, failed('Ann@remote.example.')), 'an address that is none');
  for (const action of ['delayed', 'delivered', 'relayed', 'expanded'])
    await nothing(dsn(messageId, { ...failed(ANN), Action: action }), action);
  const other = await house.sendTo(sibling, BOB);
  await nothing(dsn(other.messageId, failed(BOB)), 'a message of another inbox');

  await house.report(dsn(messageId, failed('ANN@remote.example'), failed(ANN, '5.2.2')));
  t.strictSame(news, [
    { sentId: sent.id, recipient: ANN, kind: 'failed', status: '5.1.1', diagnostic: null },
  ]);
  t.match(house.suppressed(), [{ address: 'ann@remote.example', source: 'report', reason: '5.1.1' }]);
  t.strictSame(verifyStore(house.store).faults, []);
});

t.test('what a co-recipient forges keeps this account alone from writing there', async t => {
  const house = await withReports(t);
  const other = await house.addAccount('other@elsewhere.example');
  const { messageId } = await house.sendTo(house.inboxId, ANN, BOB);
  await house.report(dsn(messageId, failed(BOB)));
  const refused = (account = house.account) =>
    house.store.read(reader => suppressedRecipients(reader, account, [ANN, BOB]));
  t.strictSame(refused(), [BOB]);
  t.strictSame(refused(other), []);
});

t.test('only what says that there is no such address suppresses', async t => {
  const house = await withReports(t);
  const codes = ['5.2.1', '5.2.2', '5.3.4', '5.4.4', '5.7.1', '5.7.25', '5.1.0', '5.0.0', '4.4.7', '4.1.1'];
  for (const code of codes) {
    const { messageId } = await house.sendTo(house.inboxId, ANN);
    await house.report(dsn(messageId, failed(ANN, code)));
  }
  t.strictSame(
    house.news.map(({ status }) => status),
    codes,
    'the delivery is told of all the same',
  );
  t.strictSame(house.suppressed(), []);
});

t.test('every recorded report is matched with its message', async t => {
  const house = await withReports(t);
  for (const [index, recorded] of RECORDED_REPORTS.entries()) {
    const recipient = `n${index}@remote.example`;
    const { id, messageId } = await house.sendTo(house.inboxId, 'first@remote.example', recipient);
    await house.report(recorded.write({ messageId, recipient, sender: 'agent@example.org' }));
    const isNews = recorded.action === 'failed' || recorded.action === 'complained';
    const kind = recorded.kind === 'abuse' ? 'complaint' : 'failed';
    t.match(house.news.splice(0), isNews ? [{ sentId: id, recipient, kind }] : [], recorded.name);
    const isSuppressed = kind === 'complaint' || (isNews && saysNoSuchAddress(recorded.status ?? ''));
    const addresses = house.suppressed().map(({ address }) => address);
    t.equal(addresses.includes(recipient), isSuppressed, recorded.name);
  }
  t.strictSame(verifyStore(house.store).faults, []);
});

t.test('no recorded report counts in another inbox, or for whom the message did not go to', async t => {
  const house = await withReports(t);
  const sibling = await house.addInbox('sibling');
  const { messageId } = await house.sendTo(house.inboxId, ANN);
  const sender = 'agent@example.org';
  for (const { name, write } of RECORDED_REPORTS) {
    await house.report(write({ messageId, recipient: ANN, sender }), sibling);
    await house.report(write({ messageId, recipient: 'nobody@remote.example', sender }));
    await house.report(write({ messageId: 'x@example.org', recipient: ANN, sender }));
    t.strictSame([house.news.length, house.suppressed().length], [0, 0], name);
  }
});

t.test('no answer of a machine counts, whatever it says', async t => {
  const house = await withReports(t);
  const { messageId } = await house.sendTo(house.inboxId, ANN);
  for (const { name, write } of RECORDED_ANSWERS) {
    const id = await house.report(write({ messageId, recipient: ANN, sender: 'agent@example.org' }));
    t.equal(house.message(id)?.status, 'ready', name);
    t.strictSame([house.news.length, house.suppressed().length], [0, 0], name);
  }
});

t.test('a message that a relay gave another Message-ID is known by that one', async t => {
  const house = await withReports(t);
  const { inboxId, store } = house;
  const sent = await house.sendTo(inboxId, ANN);
  await renameByRelay(store, sent, '0102-1@eu-west-1.amazonses.example');
  await house.sendTo(inboxId, ANN);
  await house.report(dsn('0102-2@eu-west-1.amazonses.example', failed(ANN)));
  t.strictSame(house.news, []);
  await house.report(dsn('0102-1@eu-west-1.amazonses.example', failed(ANN)));
  t.match(house.news, [{ sentId: sent.id, recipient: ANN }]);
});

t.test('a report and its news are published together or not at all', async t => {
  const house = await withReports(t);
  const { messageId } = await house.sendTo(house.inboxId, ANN);
  const id = await house.receive(dsn(messageId, failed(ANN)).replace(/\n/g, '\r\n'), house.inboxId);
  const failing = () => {
    throw new Error('the disk is gone');
  };
  await t.rejects(index(house, id, parseForReal, { noteBounce: failing }), /the disk is gone/);
  t.match(house.message(id), { status: 'processing', content: null });
  t.strictSame(house.suppressed(), []);
  await index(house, id, parseForReal);
  t.equal(house.message(id)?.status, 'ready');
  t.equal(house.suppressed().length, 1);
});
