import t from 'tap';
import { openHouse } from '../../../abuse/house.js';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';

t.test('A-labels and U-labels reach the same inbox; the envelope keeps what was written', async t => {
  const { port, facts } = await openHouse(t, {}, 'xn--mnchen-3ya.example');
  const written = [
    'postmaster@xn--mnchen-3ya.example',
    'Postmaster@XN--MNCHEN-3YA.EXAMPLE',
    'postmaster@m\u00fcnchen.example',
    'postmaster@M\u00dcNCHEN.example',
    // Decomposed: u and a combining diaeresis.
    'postmaster@mu\u0308nchen.example',
  ];
  const client = await SmtpClient.ready(port);
  for (const address of written) {
    t.equal((await client.sendMail('a@b.example', [address], 'x\r\n', ' SMTPUTF8')).code, 250, address);
  }
  await client.command('MAIL FROM:<j\u00f6rg@b.example> SMTPUTF8', 250);
  await client.command('RCPT TO:<postmaster@munchen.example>', 550);
  const { messages } = await facts();
  t.same(new Set(messages.map(({ envelopeTo }) => envelopeTo)), new Set(written));
  t.equal(new Set(messages.map(({ inboxId }) => inboxId)).size, 1);
});
