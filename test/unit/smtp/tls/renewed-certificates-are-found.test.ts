import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import type { Test } from 'tap';
import t from 'tap';
import { CertificateFiles } from '../../../../src/smtp/certificate-files.js';
import type { TlsIdentity } from '../../../../src/smtp/options.js';
import { recordingLog } from '../../../support/redis/redis.js';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';
import { certificate, renewedCertificate } from './test-certificate.js';

/** A folder as certbot has it: `live/` contains links into `archive/`, which are replaced by renaming. */
class Folder {
  readonly path = mkdtempSync(join(tmpdir(), 'certificate-'));
  readonly paths = { cert: join(this.path, 'fullchain.pem'), key: join(this.path, 'privkey.pem') };
  #version = 0;

  constructor(t: Test) {
    t.teardown(() => rmSync(this.path, { recursive: true, force: true }));
  }

  put(which: 'cert' | 'key', content: string): void {
    const file = join(this.path, `${which}-${++this.#version}.pem`);
    writeFileSync(file, content);
    symlinkSync(file, `${file}.link`);
    renameSync(`${file}.link`, this.paths[which]);
  }

  putPair({ cert, key }: typeof certificate): void {
    this.put('cert', cert);
    this.put('key', key);
  }
}

async function watched(t: Test): Promise<{
  folder: Folder;
  seen: string[];
  lines: () => string[];
  untilSeen: (count: number) => Promise<void>;
  untilLogged: (count: number) => Promise<void>;
}> {
  const folder = new Folder(t);
  folder.putPair(certificate);
  const log = recordingLog();
  const files = new CertificateFiles(folder.paths, log);
  t.teardown(() => files.stop());
  const seen: string[] = [String((await files.read()).cert)];
  files.watch((identity: TlsIdentity) => seen.push(String(identity.cert)), 5);
  const lines = () => log.lines.map(line => `${line.level} ${line.message}`);
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise(resolve => setTimeout(resolve, 5));
  };
  return {
    folder,
    seen,
    lines,
    untilSeen: count => until(() => seen.length >= count),
    untilLogged: count => until(() => log.lines.length >= count),
  };
}

t.test('links that are swapped are noticed, and nothing is handed over twice', async t => {
  const { folder, seen, lines, untilSeen } = await watched(t);
  folder.putPair(renewedCertificate);
  await untilSeen(2);
  folder.putPair(certificate);
  await untilSeen(3);
  t.same(seen, [certificate.cert, renewedCertificate.cert, certificate.cert]);
  t.match(lines().at(-1), /^info .*serves new connections/);
});

t.test('files that are written over, too', async t => {
  const { folder, seen, untilSeen } = await watched(t);
  writeFileSync(folder.paths.key, renewedCertificate.key);
  writeFileSync(folder.paths.cert, renewedCertificate.cert);
  await untilSeen(2);
  t.equal(seen.at(-1), renewedCertificate.cert);
});

for (const [name, spoil] of [
  [
    'a new certificate whose key is not there yet',
    (folder: Folder) => folder.put('cert', renewedCertificate.cert),
  ],
  ['half a file', (folder: Folder) => folder.put('cert', renewedCertificate.cert.slice(0, 300))],
  ['an empty file', (folder: Folder) => folder.put('key', '')],
  ['a file that is gone', (folder: Folder) => rmSync(folder.paths.cert)],
] as const) {
  t.test(`${name}: said once, the old pair stays, the next good one is taken`, async t => {
    const { folder, seen, lines, untilLogged, untilSeen } = await watched(t);
    spoil(folder);
    await untilLogged(1);
    await new Promise(resolve => setTimeout(resolve, 30));
    t.match(lines(), [/^error .*the old one stays/]);
    t.equal(lines().length, 1);
    t.equal(seen.length, 1);
    folder.putPair(renewedCertificate);
    await untilSeen(2);
    t.equal(seen.at(-1), renewedCertificate.cert);
  });
}

t.test('a listener refuses a bad pair and goes on with the old one', async t => {
  const { port, listener } = await withListener(t, { tls: certificate, implicitTlsPort: 0 });
  const subject = async () => {
    const client = await SmtpClient.ready(port);
    await client.startTls();
    const name = (client.socket as TLSSocket).getPeerCertificate().subject.CN;
    client.destroy();
    return name;
  };
  t.throws(() => listener.reloadTls({ cert: renewedCertificate.cert, key: certificate.key }));
  t.throws(() => listener.reloadTls({ cert: 'no certificate', key: certificate.key }));
  t.equal(await subject(), 'mx.example.org');
  listener.reloadTls(renewedCertificate);
  t.equal(await subject(), 'renewed.example.org');
});
