import type { Test } from 'tap';
import t from 'tap';
import type { CreateInbox } from '../../../../src/contract/inboxes.js';
import type { AccountId } from '../../../../src/domain/ids.js';
import { setAllowance } from '../../../../src/usecases/accounts/accounts.js';
import { createInbox } from '../../../../src/usecases/inboxes/create-inbox.js';
import { deleteInbox, listInboxes } from '../../../../src/usecases/inboxes/inboxes.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { DAY_MS, withHouse } from '../with-house.js';

type Input = Omit<CreateInbox, 'accountId'>;

async function setUp(test: Test, options = {}) {
  const house = await withHouse(test, options);
  const create = (input: Input, accountId: AccountId = house.account) =>
    createInbox(house.inboxes, { accountId, ...input });
  const used = () => listInboxes(house.inboxes, house.account).inbox_allowance.used;
  return { house, create, used };
}

t.test('the answer is the inbox, without replay fields when there was no key', async t => {
  const { create, house } = await setUp(t);
  const inbox = await create({ local_part: '  My-Agent ', name: ' Research ', sender_name: '  ' });
  t.strictSame(inbox, {
    id: inbox.id,
    local_part: 'my-agent',
    address: 'my-agent@example.org',
    name: 'Research',
    sender_name: null,
    created_at: new Date(house.now.ms).toISOString(),
  });
  t.match(
    await outcomeOf(() => create({ local_part: 'my-agent' })),
    { failure: { code: 'address_unavailable' } },
    'an unkeyed repeat',
  );
});

t.test('refusals, each with its code, use no slot and no key', async t => {
  const { create, used } = await setUp(t);
  const refused: [string, Input][] = [
    ['invalid_local_part', { local_part: 'a.b' }],
    ['invalid_name', { local_part: 'a', name: 'x\ny' }],
    ['invalid_name', { local_part: 'a', sender_name: 'x'.repeat(257) }],
    ['invalid_inbox', { local_part: 'a', domain: 'elsewhere.example' }],
    ['invalid_inbox', { local_part: 'a', domain: '' }],
    ['invalid_idempotency_key', { local_part: 'a', idempotency_key: 'a b' }],
    ['invalid_idempotency_key', { local_part: 'a', idempotency_key: '' }],
    ...['hello', 'test', 'Reviewer_ChatGPT', 'reviewer_chatgpt_9', 'postmaster', 'billing'].map(
      (localPart): [string, Input] => ['address_unavailable', { local_part: localPart }],
    ),
  ];
  for (const [code, input] of refused) {
    t.match(
      await outcomeOf(() => create({ idempotency_key: 'key', ...input })),
      { ok: false, failure: { code } },
      JSON.stringify(input),
    );
  }
  t.equal(used(), 0);
  t.match(await outcomeOf(() => create({ local_part: 'a', idempotency_key: 'key' })), {
    ok: true,
    value: { replayed: false },
  });
});

t.test('one address lives once, in whichever account, and once per domain', async t => {
  const { create, house } = await setUp(t);
  const other = await house.addAccount('other@elsewhere.example');
  await create({ local_part: 'agent' });
  t.match(await outcomeOf(() => create({ local_part: 'AGENT' }, other)), {
    failure: { code: 'address_unavailable' },
  });
  t.match(await outcomeOf(() => create({ local_part: 'agent', domain: ' Example.NET ' }, other)), {
    value: { address: 'agent@example.net' },
  });
});

t.test('the cap is told with what to do about it, and follows the account', async t => {
  const { create, house, used } = await setUp(t, { inboxLimit: 2 });
  await create({ local_part: 'one' });
  await create({ local_part: 'two' });
  t.match(await outcomeOf(() => create({ local_part: 'three', idempotency_key: 'key' })), {
    failure: {
      code: 'inbox_limit_reached',
      details: {
        allowance: { allowance: 2, used: 2, remaining: 0, unit: 'inbox_slots' },
        increase_request: 'Ask for more.',
        policy_url: 'https://example.org/policy',
      },
    },
  });
  await setAllowance(house.inboxes, { account: house.account, inboxes: 3 });
  t.match(await outcomeOf(() => create({ local_part: 'three', idempotency_key: 'key' })), {
    value: { replayed: false },
  });
  await setAllowance(house.inboxes, { account: house.account, inboxes: 1 });
  t.match(listInboxes(house.inboxes, house.account).inbox_allowance, { used: 3, remaining: 0 });
  t.equal(used(), 3);
});

t.test(
  'a matching retry gives the inbox as it is now; what matches is the intent, not the spelling',
  async t => {
    const { create, used, house } = await setUp(t);
    const first = await create({ local_part: 'agent', name: 'Name', idempotency_key: 'key' });
    const expires = new Date(house.now.ms + DAY_MS).toISOString();
    t.match(first, { replayed: false, idempotency_expires_at: expires });
    house.now.ms += 1000;
    const same: Input[] = [
      { local_part: 'agent', name: 'Name' },
      { local_part: ' AGENT ', name: '  Name  ' },
      { local_part: 'agent', name: 'Name', sender_name: null },
      { local_part: 'agent', name: 'Name', sender_name: ' ' },
      { local_part: 'agent', name: 'Name', domain: 'EXAMPLE.org' },
    ];
    for (const input of same) {
      const again = await create({ ...input, idempotency_key: 'key' });
      t.strictSame(
        again,
        { ...first, replayed: true, idempotency_expires_at: expires },
        JSON.stringify(input),
      );
    }
    const different: Input[] = [
      { local_part: 'agent' },
      { local_part: 'agent', name: 'name' },
      { local_part: 'agent', name: 'Name', sender_name: 'S' },
      { local_part: 'agent2', name: 'Name' },
      { local_part: 'agent', name: 'Name', domain: 'example.net' },
    ];
    for (const input of different) {
      t.match(
        await outcomeOf(() => create({ ...input, idempotency_key: 'key' })),
        { failure: { code: 'idempotency_conflict' } },
        JSON.stringify(input),
      );
    }
    t.equal(used(), 1);
  },
);

t.test('a key is the account’s own', async t => {
  const { create, house } = await setUp(t);
  const other = await house.addAccount('other@elsewhere.example');
  await create({ local_part: 'one', idempotency_key: 'key' });
  t.match(await outcomeOf(() => create({ local_part: 'two', idempotency_key: 'key' }, other)), {
    value: { replayed: false },
  });
});

t.test('concurrent matching requests come to one inbox and one slot', async t => {
  const { create, used } = await setUp(t);
  const all = await Promise.all(
    Array.from({ length: 50 }, () => create({ local_part: 'agent', idempotency_key: 'key' })),
  );
  t.equal(new Set(all.map(value => value.id)).size, 1);
  t.equal(all.filter(value => value.replayed === false).length, 1);
  t.equal(used(), 1);
});

t.test('concurrent requests never pass the cap, and never share an address', async t => {
  const { create, used } = await setUp(t, { inboxLimit: 3 });
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, n) => outcomeOf(() => create({ local_part: `agent${n % 10}` }))),
  );
  t.equal(all.filter(result => result.ok).length, 3);
  t.equal(used(), 3);
});

t.test('when the inbox was deleted a matching retry says so, and makes no other', async t => {
  const { create, house, used } = await setUp(t);
  const inbox = await create({ local_part: 'agent', idempotency_key: 'key' });
  await deleteInbox(house, { accountId: house.account, inboxId: inbox.id });
  t.match(await outcomeOf(() => create({ local_part: 'agent', idempotency_key: 'key' })), {
    failure: { code: 'idempotency_result_unavailable' },
  });
  t.match(await outcomeOf(() => create({ local_part: 'other', idempotency_key: 'key' })), {
    failure: { code: 'idempotency_conflict' },
  });
  t.equal(used(), 0);
});

t.test('after 24 hours, to the millisecond, a key is fresh; swept or not', async t => {
  for (const isSwept of [false, true]) {
    const { create, house } = await setUp(t);
    await create({ local_part: 'one', idempotency_key: 'key' });
    house.now.ms += DAY_MS - 1;
    if (isSwept) await house.sweepAll();
    t.match(await outcomeOf(() => create({ local_part: 'one', idempotency_key: 'key' })), {
      value: { replayed: true },
    });
    house.now.ms += 1;
    if (isSwept) await house.sweepAll();
    t.match(await outcomeOf(() => create({ local_part: 'two', idempotency_key: 'key' })), {
      value: { replayed: false },
    });
    house.now.ms += 1000;
    await house.sweepAll();
    t.match(
      await outcomeOf(() => create({ local_part: 'two', idempotency_key: 'key' })),
      { value: { replayed: true } },
      'renewed, and kept',
    );
  }
});
