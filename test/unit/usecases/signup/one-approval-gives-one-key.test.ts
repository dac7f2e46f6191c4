import t from 'tap';
import { hashClaimPhrase, hashLinkToken } from '../../../../src/domain/secrets.js';
import { findAccountByEmail } from '../../../../src/store/records/accounts.js';
import {
  approvalLinksTable,
  auditTable,
  claimPhrasesTable,
} from '../../../../src/store/records/approvals.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { listAccountKeys } from '../../../../src/usecases/accounts/api-keys.js';
import { listInboxes } from '../../../../src/usecases/inboxes/inboxes.js';
import { approve, viewApproval } from '../../../../src/usecases/signup/approve.js';
import { authenticate } from '../../../support/use-cases.js';
import { FIRST, LAST } from '../../store/lines.js';
import { CLIENT, claimOf, HOUR_MS, MINUTE_MS, withApprovals } from './with-approvals.js';

const OWNER = 'owner@elsewhere.example';

t.test('from an email address to a key, step by step', async t => {
  const approvals = await withApprovals(t);
  const { house, sent } = approvals;
  const inbox = await house.addInbox('agent');
  const token = (await approvals.askForLink('Owner@ELSEWHERE.example'))!;
  t.equal(sent[0]?.to, OWNER, 'mail goes to the address of the account, not to what was typed');
  t.match(viewApproval(approvals, token), {
    status: 'open',
    email: OWNER,
    hasAccount: true,
    inboxes: ['agent@example.org'],
    inboxCount: 1,
  });
  const outcome = await approvals.press(token);
  t.match(outcome, { status: 'approved', email: OWNER, expiresAt: house.now.ms + 6 * HOUR_MS });
  const phrase = outcome.status === 'approved' ? outcome.phrase : '';
  t.match(phrase, /^([a-z]{4,8} ){5}[a-z]{4,8}$/);
  const claim = await claimOf(approvals.redeem(phrase));
  t.match(claim, { account_id: house.account, token_type: 'Bearer', message: String });
  t.equal(authenticate(house, claim.credential)?.id, house.account);
  const { inboxes } = listInboxes(
    { ...house, limits: { inboxes: 5, sends: 5, storageMib: 2048 } },
    house.account,
  );
  t.same(
    inboxes.map(({ id }) => id),
    [inbox],
    'a claim makes no inbox',
  );
  t.same(approvals.trail(), ['requested', 'mailed', 'approved', 'claimed']);
});

t.test('a link gives one phrase, however often and at once it is pressed', async t => {
  const approvals = await withApprovals(t);
  const token = (await approvals.askForLink(OWNER))!;
  const outcomes = await Promise.all([1, 2, 3].map(() => approvals.press(token)));
  t.same(outcomes.map(({ status }) => status).sort(), ['approved', 'used', 'used']);
  t.equal((await approvals.press(token)).status, 'used');
  t.equal(viewApproval(approvals, token).status, 'used');
  t.same(approvals.trail(), ['requested', 'mailed', 'approved']);
});

t.test('a phrase gives one key, and other phrases and keys stay as they are', async t => {
  const approvals = await withApprovals(t);
  const [one, two] = [await approvals.phraseFor(OWNER), await approvals.phraseFor(OWNER)];
  const redeemed = await Promise.all([1, 2, 3].map(() => approvals.redeem(` ${one.toUpperCase()} `)));
  t.equal(redeemed.filter(({ ok }) => ok).length, 1);
  for (const result of redeemed) if (!result.ok) t.equal(result.failure.code, 'invalid_claim');
  const first = redeemed.find(result => result.ok);
  const second = await claimOf(approvals.redeem(two));
  const credentials = [first?.ok === true ? first.value.credential : '', second.credential];
  for (const credential of credentials) t.ok(authenticate(approvals.house, credential));
  t.equal(listAccountKeys(approvals.house, OWNER).length, 2);
});

t.test('whatever is wrong with a phrase, the answer is the same', async t => {
  const approvals = await withApprovals(t, { policy: 'domains', domains: ['guests.example'] });
  const { now } = approvals.house;
  const used = await approvals.phraseFor(OWNER);
  await approvals.redeem(used);
  const expired = await approvals.phraseFor(OWNER);
  const foreign = await approvals.phraseFor('ann@guests.example');
  now.ms += 6 * HOUR_MS;
  const live = await approvals.phraseFor('ann@guests.example');
  approvals.policy = { ...approvals.policy, policy: 'closed' };
  const wrong = ['', 'six words that nobody ever said', used, expired, foreign, live, 'x'.repeat(4000)];
  const answers = await Promise.all(wrong.map(phrase => approvals.redeem(phrase)));
  t.equal(new Set(answers.map(answer => JSON.stringify(answer))).size, 1);
  t.match(answers[0], { ok: false, failure: { code: 'invalid_claim' } });
  approvals.policy = { ...approvals.policy, policy: 'open' };
  t.ok((await approvals.redeem(live)).ok, 'a refused claim uses nothing up');
});

t.test('a link can be opened for 12 hours, and pressed for 15 minutes after it was opened', async t => {
  const approvals = await withApprovals(t);
  const { now } = approvals.house;
  const token = (await approvals.askForLink(OWNER))!;
  const openedAt = now.ms;
  now.ms += 15 * MINUTE_MS + 1;
  t.equal((await approve(approvals, { token, openedAt, client: CLIENT })).status, 'window_over');
  t.equal(viewApproval(approvals, token).status, 'open', 'it can be opened again');
  now.ms = openedAt + 12 * HOUR_MS - 1;
  t.equal(viewApproval(approvals, token).status, 'open');
  const reopenedAt = now.ms;
  now.ms += 1;
  t.equal(viewApproval(approvals, token).status, 'expired');
  t.equal((await approve(approvals, { token, openedAt: reopenedAt, client: CLIENT })).status, 'expired');
  t.same(approvals.trail(), ['requested', 'mailed']);
  t.equal((await approvals.press((await approvals.askForLink(OWNER))!)).status, 'approved');
  now.ms += 1;
  const last = (await approvals.askForLink(OWNER))!;
  const atTheEnd = now.ms;
  now.ms += 15 * MINUTE_MS;
  t.equal((await approve(approvals, { token: last, openedAt: atTheEnd, client: CLIENT })).status, 'approved');
});

t.test('tokens that were never given out open nothing', async t => {
  const approvals = await withApprovals(t);
  const token = (await approvals.askForLink(OWNER))!;
  for (const guess of ['', 'x', token.toUpperCase(), token.slice(1), `${token}0`, '0'.repeat(48)]) {
    t.equal(viewApproval(approvals, guess).status, 'unknown');
    t.equal((await approvals.press(guess)).status, 'unknown');
  }
});

t.test('a new address gets its account when the phrase is redeemed, and not before', async t => {
  const approvals = await withApprovals(t, { policy: 'open' });
  const has = () =>
    approvals.store.read(reader => findAccountByEmail(reader, 'ann@new.example') !== undefined);
  const [first, second] = [
    await approvals.phraseFor('ann@new.example'),
    await approvals.phraseFor('ANN@new.example'),
  ];
  t.notOk(has());
  const claim = await claimOf(approvals.redeem(first));
  t.ok(has());
  t.equal(
    (await claimOf(approvals.redeem(second))).account_id,
    claim.account_id,
    'made meanwhile, it is used',
  );
});

t.test('an account that an admin makes meanwhile is the one that the claim reaches', async t => {
  const approvals = await withApprovals(t, { policy: 'open' });
  const phrase = await approvals.phraseFor('ann@new.example');
  const accountId = await approvals.house.addAccount('Ann@New.example');
  t.equal((await claimOf(approvals.redeem(phrase))).account_id, accountId);
});

t.test('neither token nor phrase nor key is in the store', async t => {
  const approvals = await withApprovals(t);
  const token = (await approvals.askForLink(OWNER))!;
  const outcome = await approvals.press(token);
  const phrase = outcome.status === 'approved' ? outcome.phrase : '';
  const ALL = { from: FIRST, to: LAST, limit: 99 };
  const kept = () =>
    approvals.store.read(reader =>
      JSON.stringify([
        reader.scan(approvalLinksTable, ALL),
        reader.scan(claimPhrasesTable, ALL),
        reader.scan(auditTable, ALL),
      ]),
    );
  const { credential } = await claimOf(approvals.redeem(phrase));
  const second = await approvals.phraseFor(OWNER);
  for (const secret of [token, phrase, credential, second]) t.notOk(kept().includes(secret));
  t.ok(approvals.store.read(reader => reader.has(approvalLinksTable, hashLinkToken(token))));
  t.ok(approvals.store.read(reader => reader.has(claimPhrasesTable, hashClaimPhrase(second))));
});

t.test('what has expired is swept, and the store is sound before and after', async t => {
  const approvals = await withApprovals(t);
  const { house } = approvals;
  await approvals.phraseFor(OWNER);
  await approvals.redeem(await approvals.phraseFor(OWNER));
  await approvals.askForLink(OWNER);
  t.same(verifyStore(house.store).faults, []);
  const count = () =>
    house.store.read(reader => [
      reader.scanKeys(approvalLinksTable, { from: FIRST, to: LAST, limit: 99 }).length,
      reader.scanKeys(claimPhrasesTable, { from: FIRST, to: LAST, limit: 99 }).length,
    ]);
  t.same(count(), [3, 1]);
  house.now.ms += 6 * HOUR_MS;
  await house.sweepAll();
  t.same(count(), [3, 0]);
  house.now.ms += 6 * HOUR_MS;
  await house.sweepAll();
  t.same(count(), [0, 0]);
  const { faults, checked } = verifyStore(house.store);
  t.same([faults, checked.pending], [[], 0]);
});
