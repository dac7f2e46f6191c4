import t from 'tap';
import { resultOf } from '../../../../src/domain/errors.js';
import type { InboxId } from '../../../../src/domain/ids.js';
import { getAccount, putAccount } from '../../../../src/store/records/accounts.js';
import { createInbox } from '../../../../src/usecases/inboxes/create-inbox.js';
import { deleteInbox, getInbox, listInboxes, updateInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import { readPolicy } from '../../../../src/usecases/inboxes/policies.js';
import { countMessages } from '../../../../src/usecases/mailbox/count-messages.js';
import { getMessageDetail, openRawMessage } from '../../../../src/usecases/mailbox/read-message.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { ALL_MAIL, withHouse } from '../with-house.js';

t.test('absent fields stay, null and blank clear', async t => {
  const house = await withHouse(t);
  const accountId = house.account;
  const { id } = await createInbox(house.inboxes, {
    accountId,
    local_part: 'agent',
    name: 'N',
    sender_name: 'S',
  });
  const change = (fields: { name?: string | null; sender_name?: string | null }) =>
    updateInbox(house, { accountId, inboxId: id, ...fields });
  t.match(await outcomeOf(() => change({ name: ' New ' })), { value: { name: 'New', sender_name: 'S' } });
  t.match(await outcomeOf(() => change({ sender_name: null })), {
    value: { name: 'New', sender_name: null },
  });
  t.match(await outcomeOf(() => change({ name: '  ', sender_name: 'T' })), {
    value: { name: null, sender_name: 'T' },
  });
  t.match(await outcomeOf(() => change({})), { failure: { code: 'invalid_inbox' } });
  t.match(await outcomeOf(() => change({ name: 'a\u0000' })), { failure: { code: 'invalid_name' } });
  t.match(
    resultOf(() => getInbox(house, accountId, id)),
    { value: { name: null, sender_name: 'T' } },
  );
});

t.test('concurrent changes of different fields both survive', async t => {
  const house = await withHouse(t);
  const inboxId = await house.addInbox('agent');
  const input = { accountId: house.account, inboxId };
  await Promise.all([
    updateInbox(house, { ...input, name: 'N' }),
    updateInbox(house, { ...input, sender_name: 'S' }),
  ]);
  t.match(
    resultOf(() => getInbox(house, house.account, inboxId)),
    { value: { name: 'N', sender_name: 'S' } },
  );
});

t.test('what is another account’s is as missing as what never was', async t => {
  const house = await withHouse(t);
  const other = await house.addAccount('other@elsewhere.example');
  const inboxId = await house.addInbox('agent');
  const messageId = await house.receive('raw', inboxId);
  const answers = async (id: string, message: string) => [
    resultOf(() => getInbox(house, other, id)),
    resultOf(() => readPolicy(house, other, id, 'sending')),
    await outcomeOf(() => countMessages(house, { ...ALL_MAIL, accountId: other, inboxId: id })),
    resultOf(() => getMessageDetail(house, { accountId: other, messageId: message })),
    resultOf(() => openRawMessage(house, { accountId: other, messageId: message })),
  ];
  const missing = '01890000-0000-7000-8000-000000000000';
  const mine = await answers(inboxId, messageId);
  t.strictSame(mine, await answers(missing, missing));
  t.strictSame(mine, await answers('nonsense', '../..'));
  for (const answer of mine) t.match(answer, { failure: { code: 'not_found' } });
  t.match(await outcomeOf(() => updateInbox(house, { accountId: other, inboxId, name: 'x' })), {
    failure: { code: 'not_found' },
  });
  t.match(await outcomeOf(() => deleteInbox(house, { accountId: other, inboxId })), {
    failure: { code: 'not_found' },
  });
});

t.test('deletion frees the slot and retires the address, at once and for everyone', async t => {
  const house = await withHouse(t, { inboxLimit: 1 });
  const accountId = house.account;
  const inboxId = await house.addInbox('agent');
  const messageId = await house.receive('raw', inboxId);
  t.match(await outcomeOf(() => deleteInbox(house, { accountId, inboxId })), {
    value: { id: inboxId, status: 'deletion_pending' },
  });
  t.match(
    await outcomeOf(() => deleteInbox(house, { accountId, inboxId })),
    { failure: { code: 'not_found' } },
    'a repeat',
  );
  t.match(
    resultOf(() => getInbox(house, accountId, inboxId)),
    { failure: { code: 'not_found' } },
  );
  t.match(
    resultOf(() => getMessageDetail(house, { accountId, messageId })),
    { failure: { code: 'not_found' } },
    'before any sweep',
  );
  t.equal(listInboxes(house.inboxes, accountId).inbox_allowance.remaining, 1);
  t.equal(house.inbound.resolveRecipient('agent@example.org'), null);
  const other = await house.addAccount('other@elsewhere.example');
  for (const account of [accountId, other]) {
    const again = await outcomeOf(() =>
      createInbox(house.inboxes, { accountId: account, local_part: 'agent' }),
    );
    t.match(again, { failure: { code: 'address_unavailable' } });
  }
});

t.test('an account that may not delete is told after ownership is known', async t => {
  const house = await withHouse(t);
  const inboxId = await house.addInbox('agent');
  await house.store.write(writer => {
    const account = getAccount(writer, house.account)!;
    putAccount(writer, { ...account, permissions: { ...account.permissions, delete: false } });
  });
  const remove = (id: string) => deleteInbox(house, { accountId: house.account, inboxId: id });
  t.match(await outcomeOf(() => remove(inboxId)), { failure: { code: 'operation_not_allowed' } });
  t.match(await outcomeOf(() => remove('01890000-0000-7000-8000-000000000000' as InboxId)), {
    failure: { code: 'not_found' },
  });
});
