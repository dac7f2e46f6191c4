import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { makeCertificate } from '../../support/certificate.js';
import { endedDeliveries, startDirectBox } from '../../support/delivery/direct-box.js';
import { startDnsServer } from '../../support/dns/dns-server.js';
import { scrapeUntil } from '../../support/metrics/scrape.js';
import { freePort } from '../../support/redis/own-redis.js';
import { temporaryFolder } from '../../support/redis/redis.js';
import { send } from '../../support/sending/sending.js';
import { withFakeSmarthost } from '../../support/smarthost/fake-smarthost.js';
import { say } from '../../support/smarthost/smarthost-script.js';
import { deliver } from '../../support/smtp/deliver.js';
import { SmtpClient } from '../../support/smtp/smtp-client.js';
import { createWebhook, HOOKS_HERE } from '../../support/webhooks/hook-box.js';
import { startReceiver } from '../../support/webhooks/receiver.js';

t.test('mail, parsing, sends, deliveries, requests, events and webhooks have their figures', async t => {
  const server = await withFakeSmarthost(t, {
    rcpt: ({ line }) => (line.includes('bad@') ? say('550 5.1.1 Nobody') : null),
  });
  const dns = await startDnsServer(t, {
    'far.example': { MX: [[10, 'mx.far.example']] },
    'mx.far.example': { A: ['127.0.0.1'] },
  });
  const port = await freePort();
  const certificate = makeCertificate(temporaryFolder(t));
  const env = { POSTERN_ADMIN_PORT: String(port), ...HOOKS_HERE, ...certificate };
  const box = await startDirectBox(t, { port: server.port, dns, env });
  const agent = await createAgent(box);
  const receiver = await startReceiver(t);
  await createWebhook(agent, receiver.url, { types: ['message.received'] });

  const letter = 'Subject: One\r\nFrom: a@elsewhere.example\r\n\r\nHello\r\n';
  await deliver(box, agent.address, letter);
  const secure = await SmtpClient.ready(box.smtpPort);
  await secure.startTls();
  await secure.command('EHLO client.example', 250);
  await secure.sendMail('b@elsewhere.example', [agent.address], Buffer.from(letter));
  await secure.command('MAIL FROM:<b@elsewhere.example>', 250);
  await secure.command('RCPT TO:<nobody@example.org>', 550);
  await secure.close();
  await receiver.until(({ taken }) => taken.length === 2);
  const to = ['good@far.example', 'bad@far.example'].map(address => ({ address }));
  const { message } = await send(agent, { to, subject: 'Notes', text: 'Hello' });
  await endedDeliveries(agent, message.id);
  await agent.api.get('/v1/messages/no-such-id');

  const done = await scrapeUntil(
    port,
    scrape =>
      scrape.value('postern_webhook_calls_total', { outcome: 'taken' }) === 3 ||
      // The notice of the recipient that failed is mail, too, and the last of what happens here.
      scrape.value('postern_mail_received_total', { way: 'local', outcome: 'accepted' }) === 1,
  );
  const is = (name: string, labels: Record<string, string>, value: number) =>
    t.equal(done.value(name, labels), value, `${name} ${JSON.stringify(labels)}`);
  is('postern_mail_received_total', { way: 'smtp', outcome: 'accepted' }, 2);
  is('postern_mail_received_total', { way: 'smtp', outcome: 'no_room' }, 0);
  is('postern_smtp_accepted_total', { tls: 'yes' }, 1);
  is('postern_smtp_accepted_total', { tls: 'no' }, 1);
  is('postern_smtp_refusals_total', { reason: 'unknown_recipient' }, 1);
  t.ok((done.value('postern_mail_received_bytes_count') ?? 0) >= 2);
  t.ok((done.value('postern_parses_total', { outcome: 'parsed' }) ?? 0) >= 2);
  is('postern_sends_total', { outcome: 'accepted' }, 1);
  is('postern_delivery_attempts_total', { outcome: 'delivered' }, 1);
  is('postern_delivery_attempts_total', { outcome: 'failed' }, 1);
  is('postern_delivered_recipients_total', { tls: 'none' }, 1);
  is('postern_http_requests_total', { method: 'POST', route: '/v1/webhooks', status: '201' }, 1);
  is('postern_http_requests_total', { route: '/v1/messages/{message_id}', status: '404' }, 1);
  t.ok((done.value('postern_events_total', { type: 'message.received' }) ?? 0) >= 2);
  t.ok((done.value('postern_webhook_calls_total', { outcome: 'taken' }) ?? 0) >= 2);
  is('postern_queue_up', { queue: 'relay' }, 1);
  is('postern_ready', {}, 1);
  is('postern_store_has_room', {}, 1);
  is('postern_clock_in_doubt', {}, 0);
  t.ok((done.value('postern_store_used_bytes') ?? 0) > 0);
  t.ok((done.value('postern_disk_size_bytes') ?? 0) > (done.value('postern_disk_free_bytes') ?? 0));
  const expires = done.value('postern_certificate_expiry_timestamp_seconds', { listener: 'smtp' }) ?? 0;
  t.ok(expires > Date.now() / 1000 && expires < Date.now() / 1000 + 3 * 86_400);

  // Whatever strangers say, no label has a word of it.
  t.notMatch(done.text, /nobody|no-such-id|far\.example|elsewhere\./);
  t.notOk(done.text.includes(agent.accountId) || done.text.includes(agent.inboxId));
});

t.test('paths and methods of strangers make no new series', async t => {
  const port = await freePort();
  const dns = await startDnsServer(t, {});
  const box = await startDirectBox(t, { port: 1, dns, env: { POSTERN_ADMIN_PORT: String(port) } });
  for (let n = 0; n < 50; n++) await box.api().get(`/v1/made-up-${n}`);
  const counted = await scrapeUntil(
    port,
    scrape => scrape.value('postern_http_requests_total', { route: 'none' }) === 50,
  );
  const series = counted.samples.filter(({ name }) => name === 'postern_http_requests_total');
  t.strictSame(
    series.map(({ labels }) => labels),
    [{ method: 'other', route: 'none', status: '404' }],
  );
});
