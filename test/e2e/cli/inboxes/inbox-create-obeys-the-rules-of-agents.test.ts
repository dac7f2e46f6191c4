import t from 'tap';
import { cliBox } from '../cli-box.js';

const ACCOUNT = ['--account', 'ada@example.org'];

t.test('a spent allowance is told with the command that raises it, which works', async t => {
  const box = await cliBox(t);
  await box.json('account', 'create', 'ada@example.org');
  await box.json('inbox', 'create', ...ACCOUNT, 'one');
  await box.json('inbox', 'create', ...ACCOUNT, 'two');
  const { code, error } = await box.failure('inbox', 'create', ...ACCOUNT, 'three');
  t.equal(code, 1);
  t.equal(error.code, 'inbox_limit_reached');
  const advice = /postern (allowance set --account ada@example\.org --inboxes N)/.exec(error.message)?.[1];
  t.ok(advice, error.message);
  await box.json(...advice!.replace('N', '3').split(' '));
  t.match(await box.json('inbox', 'create', ...ACCOUNT, 'three'), { local_part: 'three' });
});

t.test('reserved, malformed and foreign addresses are refused', async t => {
  const box = await cliBox(t);
  await box.json('account', 'create', 'ada@example.org');
  const cases: ReadonlyArray<readonly [code: string, args: readonly string[]]> = [
    ['address_unavailable', ['abuse']],
    ['invalid_local_part', ['agent-']],
    ['invalid_name', ['agent', '--name', 'a\nb']],
    ['invalid_inbox', ['agent', '--domain', 'other.test']],
  ];
  for (const [code, args] of cases) {
    t.match(await box.failure('inbox', 'create', ...ACCOUNT, ...args), { code: 1, error: { code } });
  }
});
