import t from 'tap';
import { newCredential } from '../../../../src/domain/secrets.js';
import { apiKeyHashesTable, apiKeysTable } from '../../../../src/store/records/accounts.js';
import { setPermissions } from '../../../../src/usecases/accounts/accounts.js';
import {
  createKey,
  listAccountKeys,
  rememberingAuthenticator,
  revokeKeyById,
} from '../../../../src/usecases/accounts/api-keys.js';

import { authenticate, outcomeOf } from '../../../support/use-cases.js';

import { FIRST, LAST } from '../../store/lines.js';
import { withHouse } from '../with-house.js';

t.test('several keys work side by side, and each ends alone', async t => {
  const house = await withHouse(t);
  const one = await createKey(house, { account: house.account, name: ' laptop ' });
  const two = await createKey(house, { account: 'OWNER@elsewhere.example' });
  for (const { credential } of [one, two]) t.equal(authenticate(house, credential)?.id, house.account);
  house.now.ms += 5;
  const revoked = await revokeKeyById(house, one.key_id);
  t.equal(authenticate(house, one.credential), null, 'from the moment that it resolves');
  t.equal(authenticate(house, two.credential)?.id, house.account);
  house.now.ms += 5;
  t.strictSame(await revokeKeyById(house, one.key_id), revoked, 'a repeat changes nothing');
  const keys = listAccountKeys(house, house.account);
  t.strictSame(
    keys.map(key => [key.name, key.revoked_at]),
    [
      ['laptop', revoked.revoked_at],
      [null, null],
    ],
  );
});

t.test('what a server remembers of keys is never older than the store', async t => {
  const house = await withHouse(t);
  const remembered = rememberingAuthenticator(house);
  const one = await createKey(house, { account: house.account });
  const two = await createKey(house, { account: house.account });
  for (let again = 0; again < 2; again++) {
    for (const { credential } of [one, two]) t.equal(remembered(credential)?.id, house.account);
  }
  const unknown = newCredential();
  for (const text of ['', unknown, unknown, one.credential.toLowerCase()]) t.equal(remembered(text), null);
  await setPermissions(house, { account: house.account, permissions: { delete: false } });
  t.equal(remembered(one.credential)?.permissions.delete, false, 'a change of the account');
  await revokeKeyById(house, one.key_id);
  t.equal(remembered(one.credential), null, 'a revocation');
  t.equal(remembered(two.credential)?.id, house.account);
});

t.test('anything but a live key opens nothing', async t => {
  const house = await withHouse(t);
  const { credential } = await createKey(house, { account: house.account });
  for (const text of [
    '',
    'pst_',
    newCredential(),
    credential.toLowerCase(),
    `${credential} `,
    'x'.repeat(10_000),
  ]) {
    t.equal(authenticate(house, text), null);
  }
  t.match(await outcomeOf(() => createKey(house, { account: 'nobody@elsewhere.example' })), {
    failure: { code: 'not_found' },
  });
  t.match(await outcomeOf(() => revokeKeyById(house, 'nonsense')), { failure: { code: 'not_found' } });
  t.match(await outcomeOf(() => createKey(house, { account: house.account, name: 'a\nb' })), {
    failure: { code: 'invalid_name' },
  });
});

t.test('the credential is nowhere in the store', async t => {
  const house = await withHouse(t);
  const { credential } = await createKey(house, { account: house.account });
  const stored = house.store.read(reader => [
    JSON.stringify(reader.scan(apiKeysTable, { from: FIRST, to: LAST, limit: 9 })),
    JSON.stringify(reader.scan(apiKeyHashesTable, { from: FIRST, to: LAST, limit: 9 })),
  ]);
  for (const text of stored) t.notOk(text.includes(credential) || text.includes(credential.slice(4)));
});
