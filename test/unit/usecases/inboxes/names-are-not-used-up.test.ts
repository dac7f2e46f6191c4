import t from 'tap';
import { Refusal, resultOf } from '../../../../src/domain/errors.js';
import { DAY_MS } from '../../../../src/domain/instants.js';
import { createInbox, INBOXES_PER_DAY } from '../../../../src/usecases/inboxes/create-inbox.js';
import { deleteInbox, releaseInboxAddress } from '../../../../src/usecases/inboxes/inboxes.js';
import { withHouse } from '../with-house.js';

t.test('agents create so many inboxes a day, deleted ones included; an admin is not bound', async t => {
  const house = await withHouse(t);
  const accountId = house.account;
  const create = async (local_part: string, perDay?: number) => {
    const deps = perDay === undefined ? house.inboxes : { ...house.inboxes, perDay };
    const creating = createInbox(deps, { accountId, local_part });
    return creating.catch((error: unknown) =>
      resultOf(() => {
        throw error;
      }),
    );
  };
  for (let n = 0; n < INBOXES_PER_DAY; n++) {
    const made = await create(`a${n}`, INBOXES_PER_DAY);
    if (!('id' in made)) throw new Error(`refused: ${JSON.stringify(made)}`);
    await deleteInbox(house, { accountId, inboxId: made.id });
    house.now.ms += 1_000;
  }
  t.match(await create('more', INBOXES_PER_DAY), {
    failure: { code: 'rate_limited', retryAfterS: DAY_MS / 1_000 - INBOXES_PER_DAY },
  });
  t.match(await create('admin'), { local_part: 'admin' });
  house.now.ms += DAY_MS - INBOXES_PER_DAY * 1_000;
  t.match(await create('next', INBOXES_PER_DAY), { local_part: 'next' }, 'the oldest has left the day');
  t.match(await create('more', INBOXES_PER_DAY), { failure: { code: 'rate_limited', retryAfterS: 1 } });
});

t.test('an admin gives a retired address free again, never that of a living inbox', async t => {
  const house = await withHouse(t);
  const deps = { ...house.inboxes };
  const release = async (address: string) => {
    const released = releaseInboxAddress(house, address);
    return released.catch((error: unknown) =>
      resultOf(() => {
        throw error;
      }),
    );
  };
  const inbox = await house.addInbox('agent');
  t.match(await release('agent@example.org'), { failure: { code: 'address_unavailable' } });
  t.match(await release('nobody@example.org'), { failure: { code: 'not_found' } });
  t.match(await release('no address'), { failure: { code: 'not_found' } });
  await deleteInbox(house, { accountId: house.account, inboxId: inbox });
  const again = () => createInbox(deps, { accountId: house.account, local_part: 'agent' });
  await t.rejects(again(), Refusal);
  t.match(await release(' Agent@Example.ORG '), { address: 'agent@example.org' });
  t.match(await again(), { address: 'agent@example.org' });
});
