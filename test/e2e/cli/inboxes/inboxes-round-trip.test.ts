import t from 'tap';
import { cliBox, DOMAIN } from '../cli-box.js';

const ACCOUNT = ['--account', 'ada@example.org'];

t.test('an inbox is created, listed, renamed by address or id, and deleted', async t => {
  const box = await cliBox(t);
  const { account_id } = await box.json('account', 'create', 'ada@example.org');
  const inbox = await box.json('inbox', 'create', ...ACCOUNT, 'Agent', '--name', 'Research');
  t.same(Object.keys(inbox), ['id', 'local_part', 'address', 'name', 'sender_name', 'created_at']);
  t.match(inbox, { local_part: 'agent', address: `agent@${DOMAIN}`, name: 'Research', sender_name: null });

  t.same(await box.json('inbox', 'list', ...ACCOUNT), {
    inboxes: [inbox],
    inbox_limit: 2,
    inbox_allowance: { allowance: 2, used: 1, remaining: 1, unit: 'inbox_slots' },
  });
  const all = await box.json<{ inboxes: object[] }>('inbox', 'list');
  t.same(all.inboxes.at(-1), { ...inbox, account_id }, 'without --account each says whose it is');

  const renamed = await box.json('inbox', 'rename', `AGENT@${DOMAIN}`, '--name', '', '--sender-name', 'Ada');
  t.same(renamed, { ...inbox, name: null, sender_name: 'Ada' });
  t.match(await box.json('inbox', 'rename', inbox.id!, '--name', 'Travel'), {
    name: 'Travel',
    sender_name: 'Ada',
  });

  t.match(await box.json('inbox', 'delete', inbox.address!), { id: inbox.id, status: 'deletion_pending' });
  t.match(await box.failure('inbox', 'delete', inbox.address!), { code: 4, error: { code: 'not_found' } });
  t.match(await box.failure('inbox', 'create', ...ACCOUNT, 'agent'), {
    code: 1,
    error: { code: 'address_unavailable' },
  });
});

t.test('an inbox is named by its address, not by what reaches it', async t => {
  const box = await cliBox(t);
  await box.json('account', 'create', 'ada@example.org');
  await box.json('inbox', 'create', ...ACCOUNT, 'agent');
  for (const name of [`agent+tag@${DOMAIN}`, 'agent', '', '@', `${'x'.repeat(5000)}@${DOMAIN}`]) {
    t.match(await box.failure('inbox', 'delete', name), { code: 4 }, name.slice(0, 40));
  }
});

t.test('renaming without a name is wrong usage', async t => {
  const box = await cliBox(t);
  t.match(await box.failure('inbox', 'rename', `postmaster@${DOMAIN}`), {
    code: 2,
    error: { code: 'usage' },
  });
});

t.test("the operator's inbox cannot be deleted", async t => {
  const box = await cliBox(t);
  const { code, error } = await box.failure('inbox', 'delete', `postmaster@${DOMAIN}`);
  t.equal(code, 1);
  t.equal(error.code, 'protected_inbox');
});
