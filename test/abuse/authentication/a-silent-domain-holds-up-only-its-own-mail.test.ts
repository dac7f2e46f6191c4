import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent, createInbox } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { silentZones, startDnsServer } from '../../support/dns/dns-server.js';
import { SmtpClient } from '../../support/smtp/smtp-client.js';

const letter = (from: string) => `From: ${from}\r\nSubject: hello\r\n\r\nHello\r\n`;

const NETWORKS = [2, 3, 4, 5, 6];
const CONNECTIONS = 40;

t.test('clients whose domains keep us waiting fill no more than their own places', async t => {
  const silent = NETWORKS.flatMap(network =>
    Array.from({ length: CONNECTIONS }, (_, n) => `d${n}.of${network}.evil.example`),
  );
  const dns = await startDnsServer(t, {
    'partner.example': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
    '_dmarc.partner.example': { TXT: ['v=DMARC1; p=reject'] },
    ...silentZones(silent),
  });
  const box = await startBox(t, { env: { POSTERN_DNS_SERVERS: dns.address } });
  const agent = await createAgent(box);
  const open = await createInbox(agent, 'open');
  await box.cliJson('policy', 'receiving', 'set', agent.address, '--require-authentication');

  const attackers: { readonly client: SmtpClient; reply: string | null }[] = [];
  for (const network of NETWORKS) {
    const localAddress = `127.0.0.${network}`;
    for (let n = 0; n < CONNECTIONS; n++) {
      const client = await SmtpClient.connect(box.smtpPort, '127.0.0.1', { localAddress });
      await client.expect(220);
      await client.command('EHLO evil.example', 250);
      const from = `a@d${n}.of${network}.evil.example`;
      const one: (typeof attackers)[number] = { client, reply: null };
      attackers.push(one);
      void client.sendMail(from, [agent.address], letter(from)).then(
        reply => {
          one.reply = reply.text;
        },
        () => {},
      );
    }
  }
  const answered = () => attackers.filter(({ reply }) => reply !== null);
  // Of each network, those beyond its share are told to come again; nobody waits for that.
  const beyond = NETWORKS.length * (CONNECTIONS - 32);
  while (answered().length < beyond) await delay(20);

  const send = async (from: string, to: string) => {
    const client = await SmtpClient.ready(box.smtpPort);
    const startedAt = performance.now();
    const { text } = await client.sendMail(from, [to], letter(from));
    t.comment(`${to}: ${text}, after ${Math.round(performance.now() - startedAt)} ms`);
    await client.close();
    return text;
  };
  t.match(await send('bob@nothing.example', open.address), /^250 /, 'where no rule asks, nobody waits');
  t.ok(answered().length < attackers.length, 'the others still wait');
  t.match(
    await send('ann@partner.example', agent.address),
    /^250 /,
    'to the very inbox: the next turn is its own',
  );
  t.same(
    new Set(answered().map(({ reply }) => reply?.slice(0, 9))),
    new Set(['451 4.7.5']),
    'none of them was taken or refused for good',
  );
  t.equal(await agent.api.count(agent.inboxId), 1);
  for (const { client } of attackers) client.destroy();
  t.same(await box.stop(), { code: 0, signal: null }, 'nor do they hold up a stop');
});
