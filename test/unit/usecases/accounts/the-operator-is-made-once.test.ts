import t from 'tap';
import { scanAccounts } from '../../../../src/store/records/accounts.js';
import { findAddress } from '../../../../src/store/records/inboxes.js';
import { ensureOperator } from '../../../../src/usecases/accounts/accounts.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import { ADMIN } from '../../../../src/usecases/shared/callers.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { DOMAINS, withHouse } from '../with-house.js';

t.test('however often, and by however many at once', async t => {
  const house = await withHouse(t);
  const deps = { ...house, mail: { domains: DOMAINS, postmasterInbox: null } };
  await Promise.all([ensureOperator(deps), ensureOperator(deps), ensureOperator(deps)]);
  await ensureOperator(deps);
  const operators = house.store
    .read(reader => scanAccounts(reader, null, 100))
    .filter(account => account.isOperator);
  t.equal(operators.length, 1);
  t.match(
    house.store.read(reader => findAddress(reader, 'postmaster@example.org')),
    { status: 'live' },
  );
});

t.test('its inbox is protected, even from the admin', async t => {
  const house = await withHouse(t);
  await ensureOperator({ ...house, mail: { domains: DOMAINS, postmasterInbox: null } });
  t.match(await outcomeOf(() => deleteInbox(house, { ...ADMIN, inboxId: 'postmaster@example.org' })), {
    ok: false,
    failure: { code: 'protected_inbox' },
  });
});
