import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';

const endings: readonly ((client: SmtpClient) => Promise<void> | void)[] = [
  client => client.close(),
  client => client.destroy(),
  client => client.reset(),
  async client => void (await client.sendMail('a@b.example', ['agent@example.org'], 'bare\rcr\r\n')),
  async client => void (await client.write('GET / HTTP/1.1\r\n')),
  async client => {
    await client.openData('a@b.example', ['agent@example.org']);
    client.reset();
  },
  client => client.write('x'.repeat(5000)),
];

t.test('every way a session can end, ends it', async t => {
  const { port, inbound, listener } = await withListener(t);
  for (let round = 0; round < 10; round++) {
    for (const end of endings) {
      const client = await SmtpClient.ready(port);
      await end(client);
      if (round % 2 === 0) client.destroy();
      else if (!client.isClosed) await client.close();
    }
  }
  await listener.stop(30_000);
  t.equal(listener.stats().connections, 0);
  t.equal(listener.stats().connectionsTotal, 10 * endings.length);
  for (const body of inbound.bodies) t.equal(body.commits + body.aborts, 1);
  const held = () =>
    process.getActiveResourcesInfo().filter(kind => kind === 'TCPServerWrap' || kind === 'Timeout');
  // Node lets go of a handle some turns after it was closed.
  for (let tries = 0; tries < 250 && held().length > 0; tries++) await delay(20);
  t.same(held(), [], 'no timer and no listener is left');
});
