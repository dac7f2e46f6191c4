import t from 'tap';
import { findAccountByEmail, putAccount } from '../../../../src/store/records/accounts.js';
import { deleteInbox } from '../../../support/use-cases.js';
import { cliBox } from '../cli-box.js';

t.test('the delete permission of an account binds its agents, not the admin', async t => {
  const box = await cliBox(t);
  await box.json('account', 'create', 'ada@example.org');
  const inbox = await box.json('inbox', 'create', '--account', 'ada@example.org', 'agent');
  await box.withStore(async store => {
    const accountId = await store.write(writer => {
      const account = findAccountByEmail(writer, 'ada@example.org')!;
      putAccount(writer, { ...account, permissions: { ...account.permissions, delete: false } });
      return account.id;
    });
    const asAgent = await deleteInbox({ store, clock: Date.now }, { accountId, inboxId: inbox.id! });
    t.match(asAgent, { ok: false, failure: { code: 'operation_not_allowed' } });
  });
  t.match(await box.json('inbox', 'delete', inbox.id!), { id: inbox.id, status: 'deletion_pending' });
});
