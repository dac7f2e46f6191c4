import t from 'tap';
import { type AccountId, type FeedbackId, newId } from '../../../../src/domain/ids.js';
import { putFeedback } from '../../../../src/store/records/approvals.js';
import { SILENT } from '../../../../src/usecases/ports.js';
import { authenticate, redeemClaim } from '../../../support/use-cases.js';
import { type CliBox, cliBox } from '../cli-box.js';

function redeem(box: CliBox, phrase: string, discoverySource?: string) {
  return box.withStore(store =>
    redeemClaim(
      {
        store,
        clock: Date.now,
        log: SILENT,
        policy: { policy: 'closed', domains: [], proof: 'mail', mailDomains: [], takesOwnDomains: false },
      },
      { phrase, discoverySource, intendedUse: undefined, client: '192.0.2.7' },
    ),
  );
}

interface Trail {
  readonly events: {
    event: string;
    email: string;
    key_id: string | null;
    client: string | null;
    approval_id: string | null;
  }[];
  readonly next_cursor: string | null;
}

t.test('approve prints a phrase that works once, for any address', async t => {
  const box = await cliBox(t);
  const approved = await box.json('approve', 'ada@example.org');
  t.same(Object.keys(approved), ['phrase', 'expires_at']);
  t.match(approved.phrase, /^([a-z]{4,8} ){5}[a-z]{4,8}$/);
  const hours = (Date.parse(approved.expires_at!) - Date.now()) / 3_600_000;
  t.ok(hours > 5.9 && hours <= 6);
  t.same((await box.json<{ accounts: [] }>('account', 'list')).accounts.length, 1, 'no account is made yet');
  const claimed = await redeem(box, approved.phrase!);
  t.ok(claimed.ok);
  const account = await box.json('account', 'show', 'ada@example.org');
  t.equal(claimed.ok && claimed.value.account_id, account.account_id);
  t.notOk((await redeem(box, approved.phrase!)).ok);
  const again = await box.json('approve', account.account_id!);
  t.ok((await redeem(box, again.phrase!)).ok, 'an account is named by its id too');
});

t.test('as text the phrase comes with advice', async t => {
  const box = await cliBox(t);
  const { out, code } = await box.run('approve', 'ada@example.org');
  t.equal(code, 0);
  t.match(out, /^phrase {6}(\w+ ){5}\w+\nexpires_at {2}\S+\nGive the six words to one agent/);
});

t.test('what is no address is refused', async t => {
  const box = await cliBox(t);
  for (const wrong of ['ada', '', '01890000-0000-7000-8000-000000000000']) {
    t.match(await box.failure('approve', wrong), { code: 1, error: { code: 'invalid_request' } }, wrong);
  }
  t.match(await box.failure('approve'), { code: 2 });
});

t.test('the trail tells who got access and who lost it, in pages', async t => {
  const box = await cliBox(t);
  const { phrase } = await box.json('approve', 'ada@example.org');
  const claimed = await redeem(box, phrase!);
  const { keys } = await box.json<{ keys: { key_id: string }[] }>('key', 'list');
  await box.json('key', 'revoke', keys[0]!.key_id);
  await box.json('key', 'revoke', keys[0]!.key_id);
  const credential = claimed.ok ? claimed.value.credential : '';
  t.equal(await box.withStore(async store => authenticate({ store }, credential)), null);

  const trail = await box.json<Trail>('audit', 'list');
  t.same(
    trail.events.map(({ event, client }) => [event, client]),
    [
      ['key_revoked', null],
      ['claimed', '192.0.2.7'],
      ['approved', null],
    ],
  );
  t.ok(trail.events.every(({ email }) => email === 'ada@example.org'));
  t.equal(trail.events[0]?.key_id, keys[0]!.key_id);
  t.equal(trail.events[1]?.approval_id, trail.events[2]?.approval_id);
  t.equal(trail.next_cursor, null);
  t.notMatch(JSON.stringify(trail), phrase!);
  t.notMatch(JSON.stringify(trail), credential);

  const first = await box.json<Trail>('audit', 'list', '--limit', '2');
  const rest = await box.json<Trail>('audit', 'list', '--limit', '2', '--cursor', first.next_cursor!);
  t.same([...first.events, ...rest.events], trail.events);
  const text = await box.run('audit', 'list', '--limit', '2');
  t.match(text.out, `There is more: --cursor ${first.next_cursor}\n`);
  t.match(text.out, /^AT +EVENT +EMAIL/);
  t.match(await box.failure('audit', 'list', '--cursor', 'x'), {
    code: 1,
    error: { code: 'invalid_cursor' },
  });
  t.match(await box.failure('audit', 'list', '--limit', '0'), { code: 2 });
});

t.test('answers of claimers are listed', async t => {
  const box = await cliBox(t);
  t.equal((await box.run('account', 'answers')).out, 'No answers.\n');
  const { phrase } = await box.json('approve', 'ada@example.org');
  await redeem(box, phrase!, 'a \u001b[31mcolleague');
  t.match(await box.json('account', 'answers'), {
    answers: [{ email: 'ada@example.org', discovery_source: 'a \u001b[31mcolleague', intended_use: null }],
  });
  t.match((await box.run('account', 'answers')).out, 'a \\x1b[31mcolleague');
});

t.test('feedback is listed, newest first, and cannot write to the terminal', async t => {
  const box = await cliBox(t);
  t.equal((await box.run('feedback', 'list')).out, 'No feedback.\n');
  const { account_id } = await box.json('account', 'create', 'ada@example.org');
  await box.withStore(store =>
    store.write(writer => {
      for (const [title, body] of [
        ['First', 'one\ntwo'],
        [null, 'evil \u001b]0;title\u0007'],
      ] as const) {
        const nowMs = Date.now();
        const id = newId<FeedbackId>(nowMs);
        putFeedback(writer, { id, accountId: account_id as AccountId, createdAt: nowMs, title, body });
      }
    }),
  );
  const { feedback } = await box.json<{ feedback: { title: string | null; body: string }[] }>(
    'feedback',
    'list',
  );
  t.same(
    feedback.map(({ title, body }) => [title, body]),
    [
      [null, 'evil \u001b]0;title\u0007'],
      ['First', 'one\ntwo'],
    ],
  );
  const { out } = await box.run('feedback', 'list');
  t.match(out, /ada@example\.org {2}First\n {4}one\n {4}two\n/);
  t.match(out, 'evil \\x1b]0;title\\x07');
  t.match((await box.run('feedback', 'list', '--limit', '1')).out, /There is more: --cursor \S+\n$/);
});
