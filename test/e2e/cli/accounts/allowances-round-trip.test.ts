import t from 'tap';
import { cliBox } from '../cli-box.js';

t.test('an allowance is the default until it is set, each cap by itself', async t => {
  const box = await cliBox(t);
  const { account_id } = await box.json('account', 'create', 'ada@example.org');
  const show = () => box.json<object>('allowance', 'show', '--account', 'ada@example.org');
  const common = {
    account_id,
    email: 'ada@example.org',
    storage_mib: { allowance: 2_048, used: 0, is_default: true },
  };
  t.same(await show(), {
    ...common,
    inboxes: { allowance: 2, used: 0, is_default: true },
    sends: { allowance: 25, used: 0, is_default: true },
  });
  const set = await box.json<object>('allowance', 'set', '--account', account_id!, '--inboxes', '5');
  t.same(set, {
    ...common,
    inboxes: { allowance: 5, used: 0, is_default: false },
    sends: { allowance: 25, used: 0, is_default: true },
  });
  t.same(await show(), set);
  await box.json('allowance', 'set', '--account', account_id!, '--sends', '0');
  t.match(await show(), { inboxes: { allowance: 5 }, sends: { allowance: 0, used: 0, is_default: false } });
});

t.test('without --account every account is shown', async t => {
  const box = await cliBox(t);
  await box.json('account', 'create', 'ada@example.org');
  const { allowances } = await box.json<{ allowances: { email: string }[] }>('allowance', 'show');
  t.same(allowances.length, 2);
  t.equal(allowances[1]?.email, 'ada@example.org');
});

t.test('nothing to set is wrong usage, an unknown account is not found', async t => {
  const box = await cliBox(t);
  t.match(await box.failure('allowance', 'set', '--account', 'a@b.test'), {
    code: 2,
    error: { code: 'usage' },
  });
  t.match(await box.failure('allowance', 'set', '--account', 'a@b.test', '--sends', '1'), { code: 4 });
  t.match(await box.failure('allowance', 'show', '--account', 'a@b.test'), { code: 4 });
});
