import t from 'tap';
import type { AccountId } from '../../../../src/domain/ids.js';
import {
  findSuppression,
  putSuppression,
  removeSuppression,
  scanSuppressions,
  suppressedRecipients,
} from '../../../../src/store/records/suppressions.js';
import { withStore } from '../with-store.js';

const ANYBODY = '019bc1a2-0000-7000-8000-000000000001' as AccountId;

t.test('pages join up in the order of addresses', async t => {
  const store = await withStore(t);
  const addresses = Array.from({ length: 57 }, (_, n) => `n${(n * 31) % 57}@example.com`);
  await store.write(writer => {
    for (const address of addresses) putSuppression(writer, { address, reason: null, createdAt: 1 });
  });
  const found: string[] = [];
  for (let after: string | null = null; ; ) {
    const from: string | null = after;
    const page = store.read(reader => scanSuppressions(reader, from, 10)).map(record => record.address);
    found.push(...page);
    after = page.at(-1) ?? null;
    if (page.length < 10) break;
  }
  t.strictSame(found, [...addresses].sort());
});

t.test(
  'an address is found in any letter case, and those that are on the list are told as given',
  async t => {
    const store = await withStore(t);
    await store.write(writer =>
      putSuppression(writer, { address: 'ann@example.com', reason: 'asked', createdAt: 1 }),
    );
    store.read(reader => {
      t.ok(findSuppression(reader, 'Ann@Example.com'));
      t.notOk(findSuppression(reader, 'ann+tag@example.com'));
      t.notOk(findSuppression(reader, `${'a'.repeat(5000)}@example.com`));
      const given = ['ANN@example.com', 'b@example.com', 'ANN@example.com'];
      t.strictSame(suppressedRecipients(reader, ANYBODY, given), ['ANN@example.com']);
    });
    await store.write(writer => removeSuppression(writer, 'ann@example.com'));
    t.strictSame(
      store.read(reader => suppressedRecipients(reader, ANYBODY, ['ann@example.com'])),
      [],
    );
  },
);
