import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { DOMAIN, startBox } from '../../support/box/postern-box.js';
import { endedDeliveries, startDirectBox } from '../../support/delivery/direct-box.js';
import { startDnsServer } from '../../support/dns/dns-server.js';
import { firstReceived, send } from '../../support/sending/sending.js';

/** The mail domain of the box that sends. */
const SENDING = 'sending.example';

interface Records {
  readonly records: readonly { readonly name: string; readonly type: string; readonly value: string }[];
}

t.test('mail that a box delivers itself passes at another box, by the records it asks for', async t => {
  const dns = await startDnsServer(t, {
    [DOMAIN]: { MX: [[10, `mx.${DOMAIN}`]] },
    [`mx.${DOMAIN}`]: { A: ['127.0.0.1'] },
  });
  const receiving = await startBox(t, { env: { POSTERN_DNS_SERVERS: dns.address } });
  const bob = await createAgent(receiving, 'bob');
  const sending = await startDirectBox(t, {
    port: receiving.smtpPort,
    dns,
    env: { POSTERN_MAIL_DOMAINS: SENDING, POSTERN_MAIL_HOSTNAME: `mx.${SENDING}` },
  });
  const ann = await createAgent(sending, 'ann');
  const { records } = await sending.cliJson<Records>('dns', SENDING);
  const published = records.filter(({ type, name }) => type === 'TXT' && name.endsWith(SENDING));
  t.ok(published.length >= 4, 'SPF, DMARC and two keys');
  for (const name of new Set(published.map(record => record.name))) {
    dns.set(name, { TXT: published.filter(record => record.name === name).map(({ value }) => value) });
  }
  const { message } = await send(ann, {
    to: [{ address: bob.address }],
    subject: 'Grüße, with a file',
    text: 'Hello\n.\nFrom here, ü\n',
    html: '<p>Hello</p>',
    attachments: [{ filename: 'a.bin', type: 'application/octet-stream', content: 'AAEC' }],
  });
  t.match(await endedDeliveries(ann, message.id), [{ state: 'delivered' }]);
  const got = await bob.api.get(`/v1/messages/${await firstReceived(bob)}?include=authentication`);
  t.match(got.json(), {
    authentication: {
      verdict: 'pass',
      local: false,
      from_domain: SENDING,
      dkim: [
        { domain: SENDING, algorithm: 'ed25519-sha256', result: 'pass', aligned: true },
        { domain: SENDING, algorithm: 'rsa-sha256', result: 'pass', aligned: true },
      ],
      dmarc: { result: 'pass', aligned_by: /dkim/ },
    },
  });
});
