import t from 'tap';
import { composeMessage } from '../../../../src/mail/write/compose-message.js';
import { listDkimKeys } from '../../../../src/store/records/dkim-keys.js';
import { retireDkimDomain, rotateDkimKeys } from '../../../../src/usecases/dkim/keys.js';
import { mailSigner } from '../../../../src/usecases/dkim/sign-mail.js';
import { needsVerifier, verify } from '../../../support/dkim/signing.js';
import { outgoing } from '../../mail/write/outgoing-messages.js';
import { DOMAIN, withKeys } from './with-keys.js';

const FROM = `agent@${DOMAIN}`;
const composed = () => composeMessage(outgoing({ from: { address: FROM } }));
const selectorsIn = (message: Uint8Array): string[] =>
  [
    ...Buffer.from(message)
      .toString('latin1')
      .matchAll(/\bs=([a-z0-9-]+);/g),
  ].map(([, one]) => one!);

t.test('mail verifies by the records that are listed', { skip: needsVerifier }, async t => {
  const { deps, upkeep, keys } = await withKeys(t);
  await upkeep();
  const signer = mailSigner({ ...deps, domains: [DOMAIN] }, { isRedated: false });
  const records = Object.fromEntries(keys().map(({ name, record }) => [name, record]));
  const message = await signer.sign(await composed(), `agent@${DOMAIN.toUpperCase()}`);
  t.strictSame(verify([{ records, message }]), [[true, true]]);
});

t.test('mail is never unsigned for want of keys, and none are made for another domain', async t => {
  const { deps, store } = await withKeys(t);
  const signer = mailSigner({ ...deps, domains: [DOMAIN] }, { isRedated: false });
  const content = await composed();
  t.equal(await signer.sign(content, 'agent@other.test'), content);
  t.equal(await signer.sign(content, ''), content);
  t.equal(store.read(reader => listDkimKeys(reader)).length, 0);
  t.same(selectorsIn(await signer.sign(content, FROM)), ['e20261128', 'r20261128']);
});

t.test(
  'a domain that is no mail domain any more signs with the keys that it has, until they are ended',
  async t => {
    const { deps, upkeep } = await withKeys(t);
    await upkeep();
    const sign = async () =>
      selectorsIn(
        await mailSigner({ ...deps, domains: ['other.test'] }, { isRedated: false }).sign(
          await composed(),
          FROM,
        ),
      );
    t.same(await sign(), ['e20261128', 'r20261128']);
    await retireDkimDomain(deps, DOMAIN);
    t.same(await sign(), []);
  },
);

t.test('a new key signs when it has taken over, not before', async t => {
  const { deps, upkeep, publish, keys } = await withKeys(t);
  await upkeep();
  const sign = async () =>
    selectorsIn(
      await mailSigner({ ...deps, domains: [DOMAIN] }, { isRedated: false }).sign(await composed(), FROM),
    );
  await rotateDkimKeys(deps, DOMAIN);
  t.same(await sign(), ['e20261128', 'r20261128']);
  publish(keys());
  await upkeep();
  t.same(await sign(), ['e20261128-2', 'r20261128-2']);
});

t.test('nothing of a private key is logged', async t => {
  const { deps, upkeep, publish, keys, log, store } = await withKeys(t);
  await upkeep();
  const secrets = store
    .read(reader => listDkimKeys(reader))
    .map(key => ('privateKey' in key ? key.privateKey : ''));
  await rotateDkimKeys(deps, DOMAIN);
  publish(keys());
  await upkeep();
  const lines = JSON.stringify(log.lines);
  t.match(lines, /DKIM key/);
  t.equal(secrets.length, 2);
  for (const secret of secrets) t.notOk(lines.includes(secret.slice(0, 40)));
  t.notMatch(lines, /PRIVATE|privateKey/);
});
