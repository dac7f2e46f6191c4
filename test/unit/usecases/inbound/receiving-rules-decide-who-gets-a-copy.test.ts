import t from 'tap';
import type { InboxId, MessageId } from '../../../../src/domain/ids.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { ensureOperator } from '../../../../src/usecases/accounts/accounts.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import { type PolicyChange, setPolicy } from '../../../../src/usecases/inboxes/policies.js';
import type { AcceptOutcome, Envelope, ResolvedRecipient } from '../../../../src/usecases/ports.js';
import { ADMIN } from '../../../../src/usecases/shared/callers.js';
import { countChunks } from '../../store/with-blobs.js';
import { envelopeTo, type House, withHouse } from '../with-house.js';

const LETTER = 'From: Bad <bad@Spam.example>\r\nSubject: x\r\n\r\nHello\r\n';

async function setRules(house: House, inbox: InboxId, change: PolicyChange): Promise<void> {
  await setPolicy(house, { inbox, kind: 'receiving', change });
}

const block = (house: House, inbox: InboxId) =>
  setRules(house, inbox, { enabled: true, domains: ['spam.example'] });

/** What the message's copies are: inbox and address of each. */
function copiesOf(
  house: House,
  outcome: AcceptOutcome,
): (readonly [InboxId | undefined, string | undefined])[] {
  const ids: readonly MessageId[] = outcome.status === 'accepted' ? outcome.messageIds : [];
  return ids.map(id => [house.message(id)?.inboxId, house.message(id)?.envelopeTo]);
}

t.test('a message that every inbox refuses is blocked, and nothing of it stays', async t => {
  const house = await withHouse(t);
  const [one, two] = [await house.addInbox('one'), await house.addInbox('two')];
  await block(house, one);
  await setRules(house, two, { enabled: true, addresses: ['bad@spam.example'] });
  t.strictSame(await house.accept(LETTER, one, two), { status: 'blocked' });
  t.strictSame(await house.accept(LETTER + 'x'.repeat(500_000), one), { status: 'blocked' });
  t.strictSame(house.offered, []);
  t.strictSame(house.pending(), []);
  // The end of an upload is written behind its refusal: a commit of our own comes after it.
  await house.store.write(() => undefined);
  await house.sweepAll();
  t.equal(countChunks(house.store), 0);
});

t.test('when some refuse, the others get it and these get none', async t => {
  const house = await withHouse(t);
  const [one, two, three] = [
    await house.addInbox('one'),
    await house.addInbox('two'),
    await house.addInbox('three'),
  ];
  await block(house, two);
  const outcome = await house.accept(LETTER, one, two, three);
  t.strictSame(copiesOf(house, outcome), [
    [one, 'rcpt0@example.org'],
    [three, 'rcpt2@example.org'],
  ]);
  t.strictSame(copiesOf(house, await house.accept(LETTER, two, one)), [[one, 'rcpt1@example.org']]);
  t.strictSame(verifyStore(house.store).faults, [], 'the bytes have as many owners as there are copies');
});

t.test('only the visible From counts, in all of its mailboxes', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  await block(house, inbox);
  const statusOf = async (header: string) => (await house.accept(`${header}\r\n\r\nx`, inbox)).status;
  for (const header of [
    'From: ok@fine.example, bad@spam.example',
    'From: Team: ok@fine.example, bad@spam.example;',
    'From: ok@fine.example\r\nfrom: bad@SPAM.example',
  ]) {
    t.equal(await statusOf(header), 'blocked', header);
  }
  for (const header of [
    'Sender: bad@spam.example\r\nReply-To: bad@spam.example\r\nFrom: ok@fine.example',
    'From: "bad@spam.example" <ok@fine.example>',
    'From: bad@sub.spam.example',
    'Subject: no From at all',
    '\r\nFrom: bad@spam.example',
  ]) {
    t.equal(await statusOf(header), 'accepted', header);
  }
  const incoming = house.inbound.begin();
  incoming.write(Buffer.from('From: ok@fine.example\r\n\r\nx'));
  const outcome = await incoming.commit({ ...envelopeTo(inbox), from: 'bad@spam.example' });
  t.equal(outcome.status, 'accepted', 'nor does the reverse-path');
});

t.test('rules that are off, empty or for sending refuse nothing', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const taken = async () => (await house.accept(LETTER, inbox)).status === 'accepted';
  await setRules(house, inbox, { enabled: true });
  t.ok(await taken(), 'no entries');
  await setRules(house, inbox, { enabled: false, domains: ['spam.example'] });
  t.ok(await taken(), 'off');
  const change = { enabled: true, domains: ['spam.example'] };
  await setPolicy(house, { inbox, kind: 'sending', change });
  t.ok(await taken(), 'sending rules');
  await setRules(house, inbox, { enabled: true });
  t.notOk(await taken(), 'the same entries, on');
  await setRules(house, inbox, { enabled: false });
  t.ok(await taken(), 'off again');
});

for (const [where, filler] of [
  ['behind one chunk', 3_000],
  ['behind what is kept in memory', 30_000],
  ['a megabyte on', 50_000],
] as const) {
  t.test(`a From that stands ${where} is found`, async t => {
    const house = await withHouse(t);
    const [one, two] = [await house.addInbox('one'), await house.addInbox('two')];
    await block(house, one);
    const long = 'X-Filler: filler filler\r\n'.repeat(filler);
    t.strictSame(await house.accept(long + LETTER, one), { status: 'blocked' });
    t.strictSame(copiesOf(house, await house.accept(long + LETTER, one, two)), [[two, 'rcpt1@example.org']]);
    const id = await house.receive(`${long}From: ok@fine.example\r\n\r\nx`, one);
    t.equal(house.message(id)?.raw.size, long.length + 26, 'and another one is taken whole');
    t.equal((await house.accept(long, one)).status, 'accepted', 'a header that never ends');
    await house.store.write(() => undefined);
    await house.sweepAll();
    t.strictSame(verifyStore(house.store).faults, []);
  });
}

t.test('the rules of the commit count, not those of the beginning', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  for (const bytes of [LETTER, 'X-Filler: filler filler\r\n'.repeat(20_000) + LETTER]) {
    await setRules(house, inbox, { enabled: false });
    const early = house.inbound.begin();
    for (let at = 0; at < bytes.length; at += 50_000) {
      if (!early.write(Buffer.from(bytes.slice(at, at + 50_000)))) await early.drained();
    }
    await block(house, inbox);
    t.strictSame(await early.commit(envelopeTo(inbox)), { status: 'blocked' }, 'blocked meanwhile');

    const late = house.inbound.begin();
    for (let at = 0; at < bytes.length; at += 50_000) {
      if (!late.write(Buffer.from(bytes.slice(at, at + 50_000)))) await late.drained();
    }
    // Both under way at once: the change of the rules comes first.
    const lifted = setRules(house, inbox, { enabled: false });
    const outcome = late.commit(envelopeTo(inbox));
    await lifted;
    t.match(await outcome, { status: 'accepted' }, 'allowed meanwhile');
  }
});

t.test('what was received stays when its sender is blocked', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const id = await house.receive(LETTER, inbox);
  await block(house, inbox);
  t.equal(house.message(id)?.status, 'pending');
});

// RFC 5321 section 4.5.1.
t.test('mail to a role address is taken whatever the rules of its inbox say', async t => {
  const house = await withHouse(t);
  const ops = await house.addInbox('ops');
  await block(house, ops);
  const accept = async (...recipients: ResolvedRecipient[]) => {
    const incoming = house.inbound.begin();
    incoming.write(Buffer.from(LETTER));
    const envelope: Envelope = { ...envelopeTo(), recipients };
    return copiesOf(house, await incoming.commit(envelope));
  };
  const byRole = { inboxId: ops, address: 'postmaster@example.org', isRole: true };
  const byName = { inboxId: ops, address: 'ops@example.org', isRole: false };
  t.strictSame(await accept(byRole), [[ops, byRole.address]]);
  t.strictSame(await accept(byName), []);
  t.strictSame(await accept(byName, byRole), [[ops, byRole.address]], 'one copy, as role mail');
});

t.test('which addresses stand for a role', async t => {
  const house = await withHouse(t);
  await house.addInbox('agent');
  await ensureOperator({
    ...house,
    mail: { domains: ['example.org', 'example.net'], postmasterInbox: null },
  });
  for (const [address, isRole] of [
    ['postmaster', true],
    ['PostMaster@example.org', true],
    ['postmaster+x@example.net', true],
    ['abuse@EXAMPLE.net', true],
    ['agent@example.org', false],
    ['agent+postmaster@example.org', false],
  ] as const) {
    t.match(house.inbound.resolveRecipient(address), { isRole }, address);
  }
});

t.test('an inbox that is gone does not make a refusal of an acceptance', async t => {
  const house = await withHouse(t);
  const [one, two] = [await house.addInbox('one'), await house.addInbox('two')];
  await block(house, one);
  await deleteInbox(house, { ...ADMIN, inboxId: two });
  t.strictSame(await house.accept(LETTER, one, two), { status: 'blocked' });
  await deleteInbox(house, { ...ADMIN, inboxId: one });
  t.strictSame(await house.accept(LETTER, one, two), { status: 'no_recipients' });
});
