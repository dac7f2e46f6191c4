import { createHash } from 'node:crypto';
import t from 'tap';
import { hashCredential, isCredential, newCredential } from '../../../../src/domain/secrets.js';

t.test('a credential is pst_ and 256 random bits', async t => {
  const all = Array.from({ length: 1000 }, newCredential);
  t.equal(new Set(all).size, all.length);
  for (const credential of all.slice(0, 20)) {
    t.match(credential, /^pst_[A-Za-z0-9_-]{43}$/);
    t.ok(isCredential(credential));
  }
});

t.test('nothing else is looked up', async t => {
  const credential = newCredential();
  for (const text of [
    '',
    'pst_',
    credential.slice(1),
    `${credential}A`,
    `${credential}\n`,
    credential.toUpperCase(),
  ]) {
    t.notOk(isCredential(text), JSON.stringify(text));
  }
});

t.test('the hash is SHA-256, so that stores of other versions agree', async t => {
  const credential = `pst_${'A'.repeat(43)}`;
  t.ok(hashCredential(credential).equals(createHash('sha256').update(credential).digest()));
});
