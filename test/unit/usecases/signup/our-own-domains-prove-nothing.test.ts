import t from 'tap';
import { scanAudit } from '../../../../src/store/records/approvals.js';
import { addAccount } from '../../../../src/usecases/accounts/accounts.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import { approveAtConsole, viewApproval } from '../../../../src/usecases/signup/approve.js';
import type { SignupPolicy } from '../../../../src/usecases/signup/policy.js';
import { acceptSignIn } from '../../../../src/usecases/signup/request-approval.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { type Approvals, CLIENT, claimOf, withApprovals } from './with-approvals.js';

// The mail domains are example.org and example.net.
const OWN = ['ann@example.org', 'Ann@EXAMPLE.Net', 'ann+tag@example.org', 'ann%example.org@relay.example'];

const addOldAccount = ({ store, house }: Approvals, email: string) =>
  store.write(writer => addAccount(writer, { email, nowMs: house.now.ms, isOperator: false }));

const signInAs = async (approvals: Approvals, email: string) =>
  (await acceptSignIn(approvals, { email, authenticatedAt: approvals.house.now.ms, client: CLIENT })).status;

t.test('a mailed link is for addresses whose mail is kept elsewhere', async t => {
  for (const policy of ['closed', 'domains', 'open'] as const) {
    const approvals = await withApprovals(t, { policy, domains: ['example.org', 'example.net'] });
    for (const email of OWN) {
      if (policy === 'closed') await addOldAccount(approvals, email);
      t.equal(await approvals.askForLink(email), null, `${policy} ${email}`);
    }
    t.same(approvals.sent, []);
  }
  const approvals = await withApprovals(t, { policy: 'open' });
  t.ok(await approvals.askForLink('ann@sub.example.org'), 'a subdomain that is not ours is not ours');
  t.ok(await approvals.askForLink('ann@notexample.org'));
});

t.test('a link or phrase of before opens nothing once its domain has become ours', async t => {
  const approvals = await withApprovals(t, { policy: 'open', mailDomains: [] });
  const token = (await approvals.askForLink('ann@example.org'))!;
  const phrase = await approvals.phraseFor('ben@example.org');
  approvals.policy = { ...approvals.policy, mailDomains: ['example.org'] };
  t.equal(viewApproval(approvals, token).status, 'not_eligible');
  t.equal((await approvals.press(token)).status, 'not_eligible');
  t.match(await approvals.redeem(phrase), { failure: { code: 'invalid_claim' } });
});

t.test('the console approves for an address in our domains', async t => {
  const approvals = await withApprovals(t);
  const { phrase } = await approveAtConsole(approvals, 'ann@example.org');
  t.ok(await claimOf(approvals.redeem(phrase)));
});

t.test('nor does the console make an account of the address of an inbox', async t => {
  const approvals = await withApprovals(t);
  const { house } = approvals;
  const early = await approveAtConsole(approvals, 'ann+mail@example.org');
  await house.addInbox('ann');
  t.match(await outcomeOf(() => approveAtConsole(approvals, 'ANN@example.org')), {
    failure: { code: 'invalid_request', message: /address of an inbox/ },
  });
  t.match(await approvals.redeem(early.phrase), { failure: { code: 'invalid_claim' } }, 'it came in between');
});

t.test('a sign-in with such an address counts where the operator says so', async t => {
  const signIn: Partial<SignupPolicy> = { policy: 'open', proof: 'sign_in' };
  const refused = await withApprovals(t, signIn);
  for (const email of OWN) t.equal(await signInAs(refused, email), 'not_eligible', email);
  t.equal(await signInAs(refused, 'ann@elsewhere.example'), 'accepted');
  const taken = await withApprovals(t, { ...signIn, takesOwnDomains: true });
  t.equal(await signInAs(taken, 'ann@example.org'), 'accepted');
  t.equal(await signInAs(taken, 'ann%example.org@relay.example'), 'not_eligible');
});

t.test('and never with one that an inbox has or had, or that stands for a role', async t => {
  const approvals = await withApprovals(t, { policy: 'open', proof: 'sign_in', takesOwnDomains: true });
  const { house } = approvals;
  await addOldAccount(approvals, 'later@example.org');
  t.equal(await signInAs(approvals, 'later@example.org'), 'accepted');
  const inboxId = await house.addInbox('ann');
  await addOldAccount(approvals, 'ann@example.org');
  const had = ['ann@example.org', 'Ann+x@example.org'];
  for (const email of had) t.equal(await signInAs(approvals, email), 'not_eligible', email);
  await deleteInbox(house, { accountId: house.account, inboxId });
  for (const email of had) t.equal(await signInAs(approvals, email), 'not_eligible', `${email}, retired`);
  for (const email of ['abuse@example.net', 'postmaster+x@example.org']) {
    t.equal(await signInAs(approvals, email), 'not_eligible', email);
  }
});

t.test('the trail says why a link was not given', async t => {
  const approvals = await withApprovals(t);
  for (const email of ['ann@elsewhere.example', 'ann@example.org']) await approvals.askForLink(email);
  t.same(
    approvals.store.read(reader => scanAudit(reader, null, 10)).map(({ kind, detail }) => [kind, detail]),
    [
      ['not_eligible', 'link asked for to an address whose mail comes here'],
      ['not_eligible', 'link asked for'],
    ],
  );
});
