import t from 'tap';
import type { Writer } from '../../../../src/store/engine/tables.js';
import { dkimKeysTable, listDkimKeys, putDkimKey } from '../../../../src/store/records/dkim-keys.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { DOMAIN, withKeys } from '../../usecases/dkim/with-keys.js';

const DAMAGES: readonly (readonly [string, (writer: Writer) => void, RegExp])[] = [
  [
    'a key lies under the name of another',
    writer => writer.put(dkimKeysTable, { domain: DOMAIN, selector: 'other' }, listDkimKeys(writer)[0]!),
    /DKIM key e20261128 of agents\.test under its own name/,
  ],
  [
    'a record is not that of its private part',
    writer => {
      const [ed, rsa] = listDkimKeys(writer);
      putDkimKey(writer, { ...rsa!, publicKey: ed!.publicKey });
    },
    /DKIM key r20261128 of agents\.test whose private part belongs to its record/,
  ],
  [
    'a private part cannot be read',
    writer => putDkimKey(writer, { ...listDkimKeys(writer)[0]!, privateKey: 'AAAA' } as never),
    /DKIM key e20261128 of agents\.test whose private part belongs to its record/,
  ],
  [
    'two keys sign in one way',
    writer => putDkimKey(writer, { ...listDkimKeys(writer)[0]!, selector: 'second' }),
    /a second DKIM key that signs with ed25519-sha256 of agents\.test: second/,
  ],
];

for (const [what, damage, name] of DAMAGES) {
  t.test(`verify says so when ${what}`, async t => {
    const { upkeep, store } = await withKeys(t);
    await upkeep();
    t.same(verifyStore(store).faults, []);
    await store.write(writer => {
      damage(writer);
    });
    const { faults } = verifyStore(store);
    t.ok(
      faults.some(fault => name.test(fault)),
      `names it: ${faults.join('\n')}`,
    );
  });
}
