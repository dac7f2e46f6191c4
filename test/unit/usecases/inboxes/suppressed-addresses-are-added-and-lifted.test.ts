import t from 'tap';
import { resultOf } from '../../../../src/domain/errors.js';
import { findSuppression } from '../../../../src/store/records/suppressions.js';
import {
  addSuppression,
  liftSuppression,
  listSuppressions,
} from '../../../../src/usecases/inboxes/suppressions.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { withHouse } from '../with-house.js';

t.test('an address is added once, keeps its date, and takes a new reason', async t => {
  const house = await withHouse(t);
  const added = await addSuppression(house, { address: 'Ann@Example.com', reason: ' bounced ' });
  t.strictSame(added, {
    address: 'ann@example.com',
    account_id: null,
    email: null,
    source: 'operator',
    reason: 'bounced',
    created_at: '2026-01-15T12:00:00.000Z',
    until: null,
  });
  house.now.ms += 60_000;
  t.strictSame(await addSuppression(house, { address: 'ANN@example.com' }), added);
  const asked = await addSuppression(house, { address: 'ann@example.com', reason: 'asked for it' });
  t.strictSame(asked, { ...added, reason: 'asked for it' });
  t.strictSame(listSuppressions(house, { limit: 10, cursor: null }).suppressions, [asked]);
  t.strictSame(await liftSuppression(house, ' aNN@example.com'), asked);
  t.match(await outcomeOf(() => liftSuppression(house, 'ann@example.com')), {
    failure: { code: 'not_found' },
  });
  t.notOk(house.store.read(reader => findSuppression(reader, 'ann@example.com')));
});

t.test('what is no address or no reason adds nothing', async t => {
  const house = await withHouse(t);
  for (const input of [{ address: 'ann' }, { address: '' }, { address: 'ann@example.com', reason: 'a\nb' }]) {
    t.match(await outcomeOf(() => addSuppression(house, input)), {
      ok: false,
      failure: { code: 'invalid_request' },
    });
  }
  t.match(await outcomeOf(() => liftSuppression(house, 'ann')), { failure: { code: 'not_found' } });
  t.strictSame(listSuppressions(house, { limit: 10, cursor: null }), {
    suppressions: [],
    next_cursor: null,
  });
});

t.test('pages join up', async t => {
  const house = await withHouse(t);
  for (const name of ['d', 'a', 'c', 'e', 'b']) await addSuppression(house, { address: `${name}@x.example` });
  const page = (limit: number, cursor: string | null) => listSuppressions(house, { limit, cursor });
  const names = (limit: number, cursor: string | null) =>
    page(limit, cursor)
      .suppressions.map(({ address }) => address[0])
      .join('');
  t.equal(names(2, null), 'ab');
  t.equal(names(2, page(2, null).next_cursor), 'cd');
  t.equal(names(2, 'd@x.example'), 'e');
  t.equal(page(2, 'd@x.example').next_cursor, null);
  t.equal(page(5, null).next_cursor, null, 'a page that the list fills has nothing behind it');
  await liftSuppression(house, 'b@x.example');
  t.equal(names(2, 'b@x.example'), 'cd', 'a cursor outlives its entry');
  for (const cursor of ['', 'A@x.example', 'nonsense', 'a'.repeat(5000)]) {
    t.match(
      resultOf(() => listSuppressions(house, { limit: 2, cursor })),
      { failure: { code: 'invalid_cursor' } },
    );
  }
});
