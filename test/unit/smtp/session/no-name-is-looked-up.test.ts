import dns from 'node:dns';
import t from 'tap';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';

t.test('a session asks no name server: neither for the client nor for what it says', async t => {
  const { port } = await withListener(t);
  const asked: string[] = [];
  for (const name of ['lookup', 'resolve', 'resolve4', 'resolveMx', 'resolveTxt', 'reverse'] as const) {
    t.intercept(dns, name, { value: () => asked.push(name) });
  }
  const client = await SmtpClient.ready(port);
  await client.sendMail('a@b.example', ['agent@example.org'], 'x\r\n');
  await client.command('QUIT', 221);
  t.same(asked, []);
});
