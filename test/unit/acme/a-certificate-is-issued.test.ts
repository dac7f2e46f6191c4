import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { KeptCertificate, NAMES } from '../../support/acme/kept-certificate.js';

t.test('every name is proved, and key and chain lie in one file for their owner alone', async t => {
  const kept = await KeptCertificate.create(t);
  const keeper = kept.keeper();
  const steps: string[] = [];
  await keeper.obtain(step => void steps.push(step));

  const pem = readFileSync(keeper.folder.certificateFile, 'utf8');
  const certificate = new X509Certificate(pem);
  t.ok(certificate.checkPrivateKey(createPrivateKey(pem)));
  t.same(
    NAMES.map(name => certificate.checkHost(name)),
    NAMES,
  );
  t.ok(certificate.verify(new X509Certificate(kept.server.authority.root).publicKey));
  t.match(pem, /(?:-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----\s*){2}/, 'the chain is whole');
  t.equal(kept.server.issued, 1);
  t.ok(
    steps.some(step => /mx\.example\.org/.test(step)) && steps.some(step => /api\.example\.org/.test(step)),
  );

  const { folder } = kept.settings;
  t.equal(statSync(folder).mode & 0o777, 0o700);
  for (const name of readdirSync(folder)) {
    const entry = statSync(join(folder, name));
    if (entry.isFile()) t.equal(entry.mode & 0o777, 0o600, name);
  }
  t.same(readdirSync(join(folder, 'challenges')), [], 'nothing is left to be fetched');
  t.notOk(readdirSync(folder).includes('order.json'));
});

t.test('the account is opened once, and its contact follows the configuration', async t => {
  const kept = await KeptCertificate.create(t);
  await kept.obtain({ contactEmail: 'old@example.net' });
  await kept.obtain({ contactEmail: 'new@example.net' });
  const accounts = [...kept.server.accounts.values()];
  t.same(
    accounts.map(({ contact }) => contact),
    [['mailto:new@example.net']],
  );
});

t.test('a stale nonce is replaced, a few times', async t => {
  const kept = await KeptCertificate.create(t);
  kept.server.staleNonces = 2;
  await kept.obtain();
  t.equal(kept.server.issued, 1);
  kept.server.staleNonces = 1_000;
  await t.rejects(kept.obtain(), { type: 'badNonce', message: /nonce/ });
});

t.test('a name that leads elsewhere is told with what to do', async t => {
  const kept = await KeptCertificate.create(t);
  // The proof is looked for where nobody listens.
  await t.rejects(kept.obtain({ port: 0 }), {
    type: 'connection',
    host: 'mx.example.org',
    message: 'mx.example.org is not reached',
  });
});

t.test('an authority that is none is told', async t => {
  const kept = await KeptCertificate.create(t);
  const at = (directoryUrl: string) => kept.obtain({ directoryUrl, port: 0 });
  await t.rejects(at(kept.server.directoryUrl.replace('directory', 'nonce')), {
    type: 'protocol',
    message: /no JSON object|no directory/,
  });
  await t.rejects(at('http://127.0.0.1:9/directory'), {
    type: 'network',
    message: /127\.0\.0\.1:9 does not answer/,
  });
});
