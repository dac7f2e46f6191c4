import t from 'tap';
import type { AccountId } from '../../../../src/domain/ids.js';
import { getMeta } from '../../../../src/store/engine/meta.js';
import { accountEmailsTable, getAccount, putAccount } from '../../../../src/store/records/accounts.js';
import { signupAnswersTable } from '../../../../src/store/records/approvals.js';
import { ensureOperator } from '../../../../src/usecases/accounts/accounts.js';
import { approveAtConsole, viewApproval } from '../../../../src/usecases/signup/approve.js';
import type { SignupPolicy } from '../../../../src/usecases/signup/policy.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { DOMAINS } from '../with-house.js';
import { claimOf, HOUR_MS, withApprovals } from './with-approvals.js';

const OWNER = 'owner@elsewhere.example';

t.test('each policy lets in whom it names', async t => {
  const policies: [Partial<SignupPolicy>, string, boolean][] = [
    [{ policy: 'closed', domains: [] }, OWNER, true],
    [{ policy: 'closed', domains: [] }, 'ann@guests.example', false],
    [{ policy: 'closed', domains: ['guests.example'] }, 'ann@guests.example', false],
    [{ policy: 'domains', domains: ['guests.example'] }, OWNER, true],
    [{ policy: 'domains', domains: ['guests.example'] }, 'Ann@GUESTS.example', true],
    [{ policy: 'domains', domains: ['guests.example'] }, 'ann@sub.guests.example', false],
    [{ policy: 'domains', domains: ['guests.example'] }, 'ann@notguests.example', false],
    [{ policy: 'domains', domains: ['guests.example'] }, 'ann@guests.example@evil.example', false],
    [{ policy: 'open', domains: [] }, 'ann@anywhere.example', true],
    [{ policy: 'open', domains: [] }, 'no address', false],
  ];
  for (const [policy, email, isEligible] of policies) {
    const approvals = await withApprovals(t, policy);
    t.equal((await approvals.askForLink(email)) !== null, isEligible, `${policy.policy} ${email}`);
    t.same(approvals.trail(), isEligible ? ['requested', 'mailed'] : ['not_eligible']);
  }
});

t.test('the built-in account of the operator is for the console alone', async t => {
  const approvals = await withApprovals(t, { policy: 'open' });
  await ensureOperator({ ...approvals, mail: { domains: DOMAINS, postmasterInbox: null } });
  t.equal(await approvals.askForLink('postmaster@example.org'), null);
  const { phrase } = await approveAtConsole(approvals, 'postmaster@example.org');
  const { account_id } = await claimOf(approvals.redeem(phrase));
  t.equal(
    account_id,
    approvals.store.read(reader => getMeta(reader, 'operator')),
  );
});

t.test('eligibility that ends on the way ends the way', async t => {
  const approvals = await withApprovals(t, { policy: 'domains', domains: ['guests.example'] });
  const token = (await approvals.askForLink('ann@guests.example'))!;
  const phrase = await approvals.phraseFor('ben@guests.example');
  approvals.policy = { ...approvals.policy, domains: ['others.example'] };
  t.equal(viewApproval(approvals, token).status, 'not_eligible');
  t.equal((await approvals.press(token)).status, 'not_eligible');
  t.match(await approvals.redeem(phrase), { failure: { code: 'invalid_claim' } });
});

t.test('a link to an address that is no longer the email of the account opens nothing', async t => {
  const approvals = await withApprovals(t);
  const { store, house } = approvals;
  const token = (await approvals.askForLink(OWNER))!;
  const phrase = await approvals.phraseFor(OWNER);
  await store.write(writer => {
    const account = getAccount(writer, house.account)!;
    writer.remove(accountEmailsTable, account.email);
    putAccount(writer, { ...account, email: 'owner@new.example' });
  });
  t.equal((await approvals.press(token)).status, 'not_eligible');
  t.match(await approvals.redeem(phrase), { failure: { code: 'invalid_claim' } });
});

t.test('links by mail open nothing once humans sign in', async t => {
  const approvals = await withApprovals(t);
  const token = (await approvals.askForLink(OWNER))!;
  const phrase = await approvals.phraseFor(OWNER);
  approvals.policy = { ...approvals.policy, proof: 'sign_in' };
  t.equal(viewApproval(approvals, token).status, 'unknown');
  t.equal((await approvals.press(token)).status, 'unknown');
  t.ok((await approvals.redeem(phrase)).ok, 'what was approved before stays approved');
});

t.test('the console approves any address, and accounts by their id', async t => {
  const approvals = await withApprovals(t);
  const { house } = approvals;
  const { phrase, expires_at } = await approveAtConsole(approvals, 'ann@new.example');
  t.equal(Date.parse(expires_at), house.now.ms + 6 * HOUR_MS);
  const ann = (await claimOf(approvals.redeem(phrase))).account_id;
  const again = await approveAtConsole(approvals, ann);
  t.equal((await claimOf(approvals.redeem(again.phrase))).account_id, ann);
  for (const wrong of ['', 'nobody', '01890000-0000-7000-8000-000000000000']) {
    t.match(
      await outcomeOf(() => approveAtConsole(approvals, wrong)),
      { failure: { code: 'invalid_request' } },
      wrong,
    );
  }
  t.same(approvals.trail(), ['approved', 'claimed', 'approved', 'claimed']);
});

t.test('answers are kept once: with the claim that makes the account', async t => {
  const approvals = await withApprovals(t, { policy: 'open' });
  const answersOf = (id: string) =>
    approvals.store.read(reader => reader.get(signupAnswersTable, id as AccountId));
  const claim = async (email: string, discoverySource: unknown, intendedUse: unknown) => {
    const phrase = await approvals.phraseFor(email);
    return (
      await claimOf(
        approvals.redeem(phrase, { discovery_source: discoverySource, intended_use: intendedUse }),
      )
    ).account_id;
  };
  const ann = await claim('ann@new.example', ' a friend ', 'x'.repeat(501));
  t.match(answersOf(ann), { discoverySource: 'a friend', intendedUse: null });
  t.equal(await claim('ann@new.example', 'something else', 'everything'), ann);
  t.match(answersOf(ann), { discoverySource: 'a friend', intendedUse: null }, 'the first answers stay');
  t.equal(answersOf(await claim('ben@new.example', ['a'], {})), undefined, 'what is no text is no answer');
  t.equal(answersOf(await claim(OWNER, 'news', 'mail')), undefined, 'an account that was there has none');
});

t.test('a mail that is not taken is told in the trail, and asked for again', async t => {
  const approvals = await withApprovals(t);
  approvals.mailFailure = new Error('E_RELAY_UNREACHABLE: nobody there');
  t.equal(await approvals.askForLink(OWNER), null);
  approvals.mailFailure = null;
  t.ok(await approvals.askForLink(OWNER));
  t.same(approvals.trail(), ['requested', 'mail_failed', 'requested', 'mailed']);
});

t.test('strangers cannot fill the trail', async t => {
  const approvals = await withApprovals(t);
  for (let n = 0; n < 1_010; n++) await approvals.askForLink(`nobody${n}@elsewhere.example`);
  t.equal(approvals.trail().length, 1_000);
  t.ok(await approvals.askForLink(OWNER), 'and keep nobody out');
});

t.test('the trail is kept for 400 days', async t => {
  const approvals = await withApprovals(t);
  const { house } = approvals;
  await approvals.phraseFor(OWNER);
  house.now.ms += 400 * 24 * HOUR_MS - 1;
  await house.sweepAll();
  t.same(approvals.trail(), ['requested', 'mailed', 'approved']);
  house.now.ms += 2;
  await house.sweepAll();
  t.same(approvals.trail(), []);
});
