import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ask, overHttps, type Status, withAuthority } from '../../support/acme/acme-box.js';

t.test('a daemon that is killed while it gets one leaves no half file, and goes on', async t => {
  const { box, server } = await withAuthority(t);
  let atFinalize = (): void => {};
  const finalizing = new Promise<void>(resolve => {
    atFinalize = resolve;
  });
  // The certificate is issued, and the answer never comes.
  server.intervene = async resource => {
    if (resource !== 'certificate') return null;
    atFinalize();
    return new Promise(() => {});
  };
  await box.start();
  await finalizing;
  await box.kill();
  const folder = join(box.dataDir, 'tls');
  t.notOk(existsSync(join(folder, 'certificate.pem')));
  t.ok(readdirSync(folder).includes('order.json'));
  server.intervene = () => null;
  const run = await box.cli('tls', 'issue');
  t.equal(run.code, 0, run.stderr);
  t.equal(server.issued, 1, 'what had been issued was fetched');
  await box.start();
  const https = await overHttps(box.httpPort, server.authority.root);
  t.equal(await ask(https), 'HTTP/1.1 200');
  https.destroy();

  await box.stop();
  rmSync(join(folder, 'certificate.pem'));
  t.match((await box.cliJson<Status>('tls', 'status')).certificates, [{ state: 'missing' }]);
});
