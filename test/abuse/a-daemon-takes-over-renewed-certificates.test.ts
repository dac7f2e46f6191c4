import { once } from 'node:events';
import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import net from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import tls from 'node:tls';
import t from 'tap';
import { createAgent } from '../support/box/agents.js';
import { PosternBox } from '../support/box/postern-box.js';
import { SmtpClient } from '../support/smtp/smtp-client.js';
import { certificate, renewedCertificate } from '../unit/smtp/tls/test-certificate.js';

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

t.test('SIGHUP serves a new pair on both ports, and not a broken one', async t => {
  const box = PosternBox.create(t);
  const paths = { cert: join(box.folder, 'fullchain.pem'), key: join(box.folder, 'privkey.pem') };
  let version = 0;
  /** As certbot does: a link that is swapped for another. */
  const put = (path: string, content: string): void => {
    const file = `${path}.${++version}`;
    writeFileSync(file, content);
    symlinkSync(file, `${file}.link`);
    renameSync(`${file}.link`, path);
  };
  const putPair = (pair: { cert: string; key: string }): void => {
    put(paths.cert, pair.cert);
    put(paths.key, pair.key);
  };
  putPair(certificate);
  const implicitPort = await freePort();
  Object.assign(box.env, {
    POSTERN_SMTP_TLS_CERT: paths.cert,
    POSTERN_SMTP_TLS_KEY: paths.key,
    POSTERN_SMTP_IMPLICIT_TLS_PORT: String(implicitPort),
  });
  await box.start();
  const agent = await createAgent(box);

  const subjects = async (): Promise<string[]> => {
    const client = await SmtpClient.ready(box.smtpPort);
    await client.startTls();
    const upgraded = (client.socket as TLSSocket).getPeerCertificate().subject.CN;
    client.destroy();
    const direct = tls.connect({ port: implicitPort, host: '127.0.0.1', rejectUnauthorized: false });
    await once(direct, 'secureConnect');
    const implicit = direct.getPeerCertificate().subject.CN;
    direct.destroy();
    return [upgraded, implicit].map(String);
  };
  const hangUp = async (words: RegExp): Promise<void> => {
    const heard = box.hear(words);
    process.kill(box.pid, 'SIGHUP');
    await heard;
  };

  t.same(await subjects(), ['mx.example.org', 'mx.example.org']);
  put(paths.cert, renewedCertificate.cert);
  await hangUp(/the old ones stay/);
  t.same(await subjects(), ['mx.example.org', 'mx.example.org']);
  put(paths.key, renewedCertificate.key);
  await hangUp(/were read again/);
  t.same(await subjects(), ['renewed.example.org', 'renewed.example.org']);

  const client = await SmtpClient.connect(implicitPort);
  await client.handshake();
  await client.expect(220);
  await client.command('EHLO client.example', 250);
  t.equal((await client.sendMail('a@b.example', [agent.address], 'Subject: x\r\n\r\nx\r\n')).code, 250);
  await client.close();
  t.same(await box.stop(), { code: 0, signal: null });
});
