import t from 'tap';
import { resultOf } from '../../../../src/domain/errors.js';
import { addressOf, getInbox } from '../../../../src/store/records/inboxes.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import { type PolicyChange, readPolicy, setPolicy } from '../../../../src/usecases/inboxes/policies.js';
import { ADMIN } from '../../../../src/usecases/shared/callers.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { withHouse } from '../with-house.js';

t.test('each saved version counts one more; what is not given stays', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const set = async (change: PolicyChange, named: string = inbox) =>
    await setPolicy(house, { inbox: named, kind: 'sending', change });
  const read = (kind: 'sending' | 'receiving' = 'sending') => readPolicy(house, house.account, inbox, kind);
  const none = { inbox_id: inbox, enabled: false, addresses: [], domains: [], revision: 0 };
  t.strictSame(read(), none);

  const first = await set({ addresses: ['Ann@Example.com', 'Ann@example.com'] });
  t.strictSame(first, { ...none, addresses: ['Ann@example.com'], revision: 1 });
  t.strictSame(read(), first);
  const second = await set({ enabled: true, domains: ['Example.NET'] }, 'AGENT@example.org');
  t.strictSame(second, { ...first, enabled: true, domains: ['example.net'], revision: 2 });
  const third = await set({ addresses: [] });
  t.strictSame(third, { ...second, addresses: [], revision: 3 });
  const fourth = await set({ enabled: false });
  t.strictSame(fourth, { ...third, enabled: false, revision: 4 });
  t.strictSame(await set({ enabled: true }), { ...third, revision: 5 }, 'the saved lists come back');
  t.strictSame(read('receiving'), none, 'the other rules are others');
});

t.test('what is refused saves nothing', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  for (const change of [
    {},
    { addresses: ['ann'] },
    { enabled: true, domains: ['fine.example', '*.example'] },
  ]) {
    t.match(await outcomeOf(() => setPolicy(house, { inbox, kind: 'receiving', change })), {
      ok: false,
      failure: { code: 'invalid_request' },
    });
  }
  t.match(
    resultOf(() => readPolicy(house, house.account, inbox, 'receiving')),
    { value: { revision: 0 } },
  );
});

t.test('changes at once all count, and none is lost', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const domains = Array.from({ length: 20 }, (_, n) => `n${n}.example`);
  await Promise.all(
    domains.map((domain, n) =>
      setPolicy(house, {
        inbox,
        kind: 'sending',
        change: n % 2 === 0 ? { domains: [domain] } : { enabled: true },
      }),
    ),
  );
  t.match(
    resultOf(() => readPolicy(house, house.account, inbox, 'sending')),
    {
      value: { revision: 20, enabled: true, domains: ['n18.example'] },
    },
  );
});

t.test('rules go with their inbox, and one that is gone gets none', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const address = addressOf(house.store.read(reader => getInbox(reader, inbox))!);
  const set = (named: string) =>
    setPolicy(house, { inbox: named, kind: 'sending', change: { enabled: true } });
  await set(address);
  await deleteInbox(house, { ...ADMIN, inboxId: inbox });
  for (const named of [inbox, address, 'nobody@example.org', '']) {
    t.match(await outcomeOf(() => set(named)), { ok: false, failure: { code: 'not_found' } });
  }
});
