import t from 'tap';
import { cliBox } from '../cli-box.js';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

t.test('an account is created, shown by email or id, and listed', async t => {
  const box = await cliBox(t);
  const account = await box.json('account', 'create', 'Ada@example.org');
  t.same(Object.keys(account), ['account_id', 'email', 'created_at']);
  t.match(account, { account_id: /^[a-f0-9-]{36}$/, email: 'Ada@example.org', created_at: INSTANT });

  t.same(await box.json('account', 'show', 'ada@EXAMPLE.org'), account, 'letter case does not matter');
  t.same(await box.json('account', 'show', account.account_id!), account);
  const { accounts } = await box.json<{ accounts: object[] }>('account', 'list');
  t.same(accounts.at(-1), account);
  t.equal(accounts.length, 2, "besides the operator's");
});

t.test('as text it is a line a field', async t => {
  const box = await cliBox(t);
  const { code, out } = await box.run('account', 'create', 'ada@example.org');
  t.equal(code, 0);
  t.match(out, /^account_id {2}[a-f0-9-]{36}\nemail {7}ada@example\.org\ncreated_at {2}\S+\n$/);
  t.match((await box.run('account', 'list')).out, /^ACCOUNT_ID +EMAIL +CREATED_AT\n/);
});

t.test('an email has one account', async t => {
  const box = await cliBox(t);
  await box.json('account', 'create', 'ada@example.org');
  const { code, error } = await box.failure('account', 'create', 'ADA@example.org');
  t.equal(code, 1);
  t.equal(error.code, 'invalid_request');
});

t.test('what is no email address is refused', async t => {
  const box = await cliBox(t);
  t.match(await box.failure('account', 'create', 'ada'), { code: 1, error: { code: 'invalid_request' } });
});

t.test('an account that is not there is exit code 4', async t => {
  const box = await cliBox(t);
  for (const name of ['eve@example.org', '01900000-0000-7000-8000-000000000000', '', 'x'.repeat(5000)]) {
    const { code, out, error } = await box.failure('account', 'show', name);
    t.equal(code, 4, name.slice(0, 40));
    t.equal(out, '');
    t.equal(error.code, 'not_found');
    t.match(error.message, /postern account list/);
  }
});

t.test('an account with an address in a mail domain comes with a warning', async t => {
  const box = await cliBox(t);
  const account = await box.json('account', 'create', 'ada+x@AGENTS.test');
  t.match(
    account.warning,
    /^ada\+x@AGENTS\.test is in a mail domain .* "postern approve ada\+x@AGENTS\.test"/,
  );
  const { code, out } = await box.run('account', 'create', 'ben@agents.test');
  t.equal(code, 0);
  t.match(out, /created_at {2}\S+\n\nWarning: ben@agents\.test is in a mail domain of this service/);
  t.notHas(await box.json('account', 'create', 'ada@sub.agents.test'), { warning: String });
});

t.test('an account does not get the address of an inbox', async t => {
  const box = await cliBox(t);
  await box.json('account', 'create', 'ada@example.org');
  await box.json('inbox', 'create', 'ben', '--account', 'ada@example.org');
  const { code, error } = await box.failure('account', 'create', 'Ben+mail@agents.test');
  t.equal(code, 1);
  t.match(error, { code: 'invalid_request', message: /address of an inbox/ });
  await box.json('inbox', 'delete', 'ben@agents.test');
  t.ok(await box.json('account', 'create', 'Ben+mail@agents.test'), "the address is nobody else's any more");
});
