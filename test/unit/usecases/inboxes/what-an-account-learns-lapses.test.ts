import t from 'tap';
import { MAX_ACCOUNT_SUPPRESSIONS } from '../../../../src/domain/delivery-reports.js';
import type { AccountId } from '../../../../src/domain/ids.js';
import { suppressedRecipients } from '../../../../src/store/records/suppressions.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import {
  addSuppression,
  learnOfRecipient,
  liftSuppression,
  listSuppressions,
} from '../../../../src/usecases/inboxes/suppressions.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { DAY_MS, type House, withHouse } from '../with-house.js';

const ANN = 'Ann@remote.example';

function learn(house: House, recipient = ANN, accountId: AccountId = house.account, status = '5.1.1') {
  return house.store.write(writer =>
    learnOfRecipient(writer, {
      accountId,
      recipient,
      source: 'delivery',
      status,
      diagnostic: '550 5.1.1 nobody',
      at: house.now.ms,
    }),
  );
}

const isRefused = (house: House, account = house.account, address = ANN): boolean =>
  house.store.read(reader => suppressedRecipients(reader, account, [address])).length > 0;
const listed = (house: House) => listSuppressions(house, { limit: 100, cursor: null }).suppressions;

t.test('it holds for 90 days, for that account alone, and is told with its reason', async t => {
  const house = await withHouse(t);
  const other = await house.addAccount('other@elsewhere.example');
  await learn(house);
  t.ok(isRefused(house, house.account, 'aNN@remote.example'), 'in any spelling');
  t.notOk(isRefused(house, other));
  t.strictSame(listed(house), [
    {
      address: 'ann@remote.example',
      account_id: house.account,
      email: 'owner@elsewhere.example',
      source: 'delivery',
      reason: '5.1.1: 550 5.1.1 nobody',
      created_at: '2026-01-15T12:00:00.000Z',
      until: '2026-04-15T12:00:00.000Z',
    },
  ]);
  house.now.ms += 90 * DAY_MS - 1;
  await house.sweepAll();
  t.ok(isRefused(house));
  house.now.ms += 1;
  t.ok(isRefused(house), 'until the sweeper has come by');
  await house.sweepAll();
  t.notOk(isRefused(house));
  t.strictSame(listed(house), []);
  t.strictSame(verifyStore(house.store).faults, []);
});

t.test('learning it again counts from then on; older news changes nothing', async t => {
  const house = await withHouse(t);
  const start = house.now.ms;
  await learn(house);
  house.now.ms += 60 * DAY_MS;
  await learn(house, ANN, house.account, '5.1.10');
  t.match(listed(house), [{ reason: /^5\.1\.10: /, until: '2026-06-14T12:00:00.000Z' }]);
  house.now.ms = start;
  await learn(house, ANN, house.account, '5.1.2');
  t.match(listed(house), [{ reason: /^5\.1\.10: /, until: '2026-06-14T12:00:00.000Z' }]);
  house.now.ms = start + 91 * DAY_MS;
  await house.sweepAll();
  t.ok(isRefused(house), 'the first date is out of the store');
  t.strictSame(verifyStore(house.store).faults, []);
  house.now.ms = start + 150 * DAY_MS;
  await house.sweepAll();
  t.notOk(isRefused(house));
  t.strictSame(verifyStore(house.store).faults, []);
});

t.test('while the clock is in doubt, nothing lapses', async t => {
  const house = await withHouse(t);
  await learn(house);
  house.now.ms += 1000 * DAY_MS;
  house.now.isInDoubt = true;
  await house.sweepAll();
  t.ok(isRefused(house));
});

t.test('an entry of an account, and the one for all, are lifted apart', async t => {
  const house = await withHouse(t);
  const other = await house.addAccount('other@elsewhere.example');
  await learn(house);
  await learn(house, ANN, other);
  await addSuppression(house, { address: ANN, reason: 'asked' });
  t.same(
    listed(house).map(({ account_id }) => account_id),
    [null, house.account, other],
  );
  await liftSuppression(house, 'ANN@remote.example');
  t.ok(isRefused(house));
  t.match(await liftSuppression(house, 'ANN@remote.example', house.account), {
    account_id: house.account,
    source: 'delivery',
  });
  t.notOk(isRefused(house));
  t.ok(isRefused(house, other));
  t.match(await outcomeOf(() => liftSuppression(house, ANN, house.account)), {
    failure: { code: 'not_found' },
  });
  t.strictSame(verifyStore(house.store).faults, []);
  await addSuppression(house, { address: ANN });
  await liftSuppression(house, ANN, other);
  t.ok(isRefused(house, other), 'the one for all holds');
  house.now.ms += 91 * DAY_MS;
  await house.sweepAll();
  t.strictSame(verifyStore(house.store).faults, []);
});

t.test('pages join up over all entries and over those of one account', async t => {
  const house = await withHouse(t);
  const other = await house.addAccount('other@elsewhere.example');
  for (const name of ['b', 'a', 'c']) {
    await addSuppression(house, { address: `${name}@all.example` });
    await learn(house, `${name}@own.example`);
    await learn(house, `${name}@other.example`, other);
  }
  const walk = (accountId: AccountId | null, limit: number): string[] => {
    const found: string[] = [];
    for (let cursor: string | null = null; ; ) {
      const page: ReturnType<typeof listSuppressions> = listSuppressions(house, { limit, cursor, accountId });
      found.push(...page.suppressions.map(({ address }) => address));
      cursor = page.next_cursor;
      if (cursor === null) return found;
    }
  };
  const named = (domain: string) => ['a', 'b', 'c'].map(name => `${name}@${domain}.example`);
  for (const limit of [1, 2, 3, 4, 9, 10]) {
    t.strictSame(walk(null, limit), [...named('all'), ...named('own'), ...named('other')], `${limit} a page`);
    t.strictSame(walk(other, limit), named('other'), `${limit} a page of one account`);
  }
  const foreign = listSuppressions(house, { limit: 1, cursor: null, accountId: other }).next_cursor;
  for (const cursor of [foreign, 'a@all.example', `${other}:`, ':a@own.example', 'x:a@own.example']) {
    const asked = { limit: 9, cursor, accountId: house.account };
    t.match(await outcomeOf(() => listSuppressions(house, asked)), { failure: { code: 'invalid_cursor' } });
  }
});

t.test('an account that is full learns nothing more until something is lifted or lapses', async t => {
  const house = await withHouse(t);
  const address = (n: number) => `n${n}@remote.example`;
  const at = house.now.ms;
  for (let from = 0; from < MAX_ACCOUNT_SUPPRESSIONS; from += 1000) {
    await house.store.write(writer => {
      for (let n = from; n < from + 1000; n++) {
        const learnt = {
          accountId: house.account,
          source: 'report',
          status: '5.1.1',
          diagnostic: null,
        } as const;
        learnOfRecipient(writer, { ...learnt, recipient: address(n), at });
      }
    });
  }
  await learn(house, 'one-more@remote.example');
  t.notOk(isRefused(house, house.account, 'one-more@remote.example'));
  const other = await house.addAccount('other@elsewhere.example');
  await learn(house, ANN, other);
  t.ok(isRefused(house, other), 'another account has a list of its own');
  house.now.ms += DAY_MS;
  await learn(house, address(7));
  t.match(listSuppressions(house, { limit: 1, cursor: null }).suppressions.length, 1);
  await liftSuppression(house, address(0), house.account);
  await learn(house, 'one-more@remote.example');
  t.ok(isRefused(house, house.account, 'one-more@remote.example'));
  house.now.ms = at + 90 * DAY_MS;
  await house.sweepAll();
  t.notOk(isRefused(house, house.account, address(1)));
  t.ok(isRefused(house, house.account, address(7)));
  t.strictSame(verifyStore(house.store).faults, []);
});
