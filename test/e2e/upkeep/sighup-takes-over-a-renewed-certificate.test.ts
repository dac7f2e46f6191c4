import type { TLSSocket } from 'node:tls';
import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { makeCertificate } from '../../support/certificate.js';
import { acceptedId, writeLetter } from '../../support/letters/letters.js';
import { temporaryFolder } from '../../support/redis/redis.js';
import { SENDER } from '../../support/smtp/deliver.js';
import { SmtpClient } from '../../support/smtp/smtp-client.js';

t.test('after SIGHUP new sessions get the renewed certificate, open ones go on', async t => {
  const folder = temporaryFolder(t);
  const box = await startBox(t, { env: makeCertificate(folder) });
  const agent = await createAgent(box);
  const open = await secureClient(box.smtpPort);
  const old = fingerprint(open);

  makeCertificate(folder);
  const reloaded = box.hear(/^certificates and log level were read again$/);
  process.kill(box.pid, 'SIGHUP');
  await reloaded;

  const renewed = await secureClient(box.smtpPort);
  t.not(fingerprint(renewed), old);
  for (const client of [open, renewed]) {
    const letter = writeLetter();
    const id = acceptedId(await client.sendMail(SENDER, [agent.address], letter.raw));
    t.ok((await agent.api.raw(id)).equals(letter.raw));
    await client.close();
  }
});

async function secureClient(port: number): Promise<SmtpClient> {
  const client = await SmtpClient.ready(port);
  await client.startTls();
  await client.command('EHLO client.example', 250);
  return client;
}

function fingerprint(client: SmtpClient): string {
  return (client.socket as TLSSocket).getPeerCertificate().fingerprint256;
}
