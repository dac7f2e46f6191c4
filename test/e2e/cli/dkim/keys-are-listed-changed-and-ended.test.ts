import t from 'tap';
import { listDkimKeys } from '../../../../src/store/records/dkim-keys.js';
import type { DkimKeyView } from '../../../../src/usecases/dkim/keys.js';
import { type CliBox, cliBox, DOMAIN } from '../cli-box.js';

interface Keys {
  readonly keys: readonly DkimKeyView[];
}

/** Every form in which somebody could read the private keys of the box out of a text. */
async function secretsOf(box: CliBox): Promise<string[]> {
  const keys = await box.withStore(async store => store.read(reader => listDkimKeys(reader)));
  return keys.flatMap(key =>
    'privateKey' in key ? [key.privateKey.slice(0, 60), key.privateKey.slice(-60, -4)] : [],
  );
}

t.test('a store is made with keys, which are listed with the records to publish', async t => {
  const box = await cliBox(t);
  const { keys } = await box.json<Keys>('dkim', 'list');
  t.same(
    keys.map(({ domain, algorithm, state }) => [domain, algorithm, state]),
    [
      [DOMAIN, 'ed25519-sha256', 'active'],
      [DOMAIN, 'rsa-sha256', 'active'],
    ],
  );
  const [ed, rsa] = keys;
  t.match(ed!.record, /^v=DKIM1; k=ed25519; p=[A-Za-z0-9+/]{43}=$/);
  t.match(rsa!.record, /^v=DKIM1; k=rsa; p=MII[A-Za-z0-9+/]{387,}={0,2}$/);
  t.equal(rsa!.name, `${rsa!.selector}._domainkey.${DOMAIN}`);
  t.same(await box.json<Keys>('dkim', 'list', DOMAIN.toUpperCase()), { keys });
  t.same(await box.json<Keys>('dkim', 'create', DOMAIN), { keys }, 'none is lacking');
  const { out } = await box.run('dkim', 'list');
  t.ok(out.includes(`${ed!.name}. 3600 IN TXT "${ed!.record}"\n`));
  const strings = [...rsa!.zone_line.matchAll(/"([^"]*)"/g)].map(([, text]) => text!);
  t.equal(strings.join(''), rsa!.record);
  t.ok(strings.every(text => text.length <= 255));
});

t.test('keys are changed and ended', async t => {
  const box = await cliBox(t);
  const { keys } = await box.json<Keys>('dkim', 'rotate', DOMAIN);
  t.equal(keys.filter(({ state }) => state === 'new').length, 2);
  const fresh = keys.find(({ state }) => state === 'new')!;
  const rest = await box.json<Keys>('dkim', 'retire', DOMAIN, '--selector', fresh.selector);
  t.same(
    rest.keys.map(({ selector }) => selector),
    keys.filter(key => key !== fresh).map(({ selector }) => selector),
  );
  t.match(await box.failure('dkim', 'retire', DOMAIN), { code: 2, error: { message: /has to sign for it/ } });
  t.match(await box.failure('dkim', 'rotate', 'other.test'), { code: 4, error: { code: 'not_found' } });
  t.match(await box.failure('dkim', 'create', 'not a domain'), { code: 2 });
  t.equal((await box.json<Keys>('dkim', 'create', 'other.test')).keys.length, 2);
  const left = await box.json<Keys>('dkim', 'retire', 'other.test');
  t.ok(left.keys.every(({ state, published_until }) => state === 'retired' && published_until !== null));
  t.equal((await box.run('verify')).code, 0);
});

t.test('no output has anything of a private key', async t => {
  const box = await cliBox(t);
  const before = await secretsOf(box);
  t.equal(before.length, 4);
  let output = '';
  for (const args of [
    ['dkim', 'list'],
    ['dkim', 'create', 'other.test'],
    ['dkim', 'rotate', DOMAIN],
    ['dkim', 'retire', 'other.test'],
    ['verify'],
    ['status'],
    ['config', 'show'],
  ]) {
    for (const flags of [[], ['--json']]) {
      const { out, err } = await box.run(...flags, ...args);
      output += out + err;
    }
  }
  t.ok(output.includes('v=DKIM1'));
  t.notMatch(output, /PRIVATE|privateKey|private_key/);
  for (const secret of [...before, ...(await secretsOf(box))]) t.notOk(output.includes(secret));
});

t.test('a retired key has no private part in the store', async t => {
  const box = await cliBox(t);
  await box.json('dkim', 'create', 'other.test');
  await box.json('dkim', 'retire', 'other.test');
  const keys = await box.withStore(async store => store.read(reader => listDkimKeys(reader, 'other.test')));
  t.equal(keys.length, 2);
  t.notOk(keys.some(key => 'privateKey' in key));
});

t.test('a retired key stays published for as long as a message may be queued, and a week more', async t => {
  const HOUR_MS = 3_600_000;
  for (const hours of [1, 720]) {
    const box = await cliBox(t);
    box.env.POSTERN_RELAY_DIRECT_MAX_AGE_H = String(hours);
    await box.json('dkim', 'create', 'other.test');
    const beforeMs = Date.now();
    const { keys } = await box.json<Keys>('dkim', 'retire', 'other.test');
    const afterMs = Date.now();
    for (const { published_until } of keys) {
      const until = Date.parse(published_until!) - (hours + 7 * 24) * HOUR_MS;
      t.ok(until >= beforeMs && until <= afterMs, `${hours} hours`);
    }
  }
});

t.test('who asks for keys that are not there, or makes new ones, is told what to do', async t => {
  const box = await cliBox(t);
  t.match((await box.run('dkim', 'list', 'other.test')).out, '"postern dkim create other.test" makes them');
  t.match((await box.run('dkim', 'rotate', DOMAIN)).out, /Publish the records of the keys that are new/);
  for (const words of [
    ['retire', 'other.test'],
    ['retire', DOMAIN, '--selector', 'nope'],
  ])
    t.match(await box.failure('dkim', ...words), { code: 4, error: { message: /"postern dkim list/ } });
});
