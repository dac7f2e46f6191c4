import t from 'tap';
import type { InboxId } from '../../../../src/domain/ids.js';
import { ensureOperator } from '../../../../src/usecases/accounts/accounts.js';
import { resolveRecipient } from '../../../../src/usecases/inbound/recipients.js';
import { createInbox } from '../../../../src/usecases/inboxes/create-inbox.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import { DOMAINS, withHouse } from '../with-house.js';

t.test('live addresses reach their inbox, all others nothing', async t => {
  const house = await withHouse(t);
  const mail = { domains: [...DOMAINS, 'xn--bcher-kva.example'], postmasterInbox: null };
  await ensureOperator({ ...house, mail });
  const agent = await house.addInbox('agent');
  const retired = await house.addInbox('retired');
  await deleteInbox(house, { accountId: house.account, inboxId: retired });
  const other = (
    await createInbox(house.inboxes, { accountId: house.account, local_part: 'agent', domain: 'example.net' })
  ).id;
  const find = (address: string) => house.store.read(reader => resolveRecipient(reader, mail, address));
  const postmaster = find('postmaster@example.org');
  t.not(postmaster, null);

  const cases: [string, string | null][] = [
    ['agent@example.org', agent],
    ['AGENT@Example.ORG', agent],
    ['agent+tag@example.org', agent],
    ['Agent+Some+Tag@EXAMPLE.org', agent],
    ['agent@example.net', other],
    ['retired@example.org', null],
    ['retired+tag@example.org', null],
    ['nobody@example.org', null],
    ['agent@elsewhere.example', null],
    ['agent@sub.example.org', null],
    ['agent@example.org.', null],
    ['agent', null],
    ['', null],
    ['@example.org', null],
    ['agent%elsewhere.example@example.org', null],
    ['agent@elsewhere.example@example.org', null],
    ['+agent@example.org', null],
    ['postmaster', postmaster],
    ['POSTMASTER', postmaster],
    ['PostMaster@example.net', postmaster],
    ['postmaster+x@example.org', postmaster],
    ['abuse@example.org', postmaster],
    ['abuse@example.net', postmaster],
    ['postmaster@elsewhere.example', null],
    ['abuse', null],
    ['a'.repeat(5000), null],
    [`${'a'.repeat(1000)}@example.org`, null],
  ];
  for (const [address, expected] of cases) t.equal(find(address), expected, address.slice(0, 60));
});

t.test('mail for the postmaster goes where the configuration says, and home when that is gone', async t => {
  const house = await withHouse(t);
  const mail = { domains: DOMAINS, postmasterInbox: 'ops@example.org' };
  await ensureOperator({ ...house, mail });
  const find = () => house.store.read(reader => resolveRecipient(reader, mail, 'abuse@example.net'));
  const home = find() as InboxId;
  const ops = await house.addInbox('ops');
  t.equal(find(), ops);
  await deleteInbox(house, { accountId: house.account, inboxId: ops });
  t.equal(find(), home);
});
