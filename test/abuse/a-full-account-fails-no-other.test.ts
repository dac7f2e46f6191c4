import t from 'tap';
import { createAgent } from '../support/box/agents.js';
import { startBox } from '../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../support/box/store-facts.js';
import { SmtpClient } from '../support/smtp/smtp-client.js';

const MIB = 2 ** 20;
const LETTER = 'From: ann@x.example\r\nSubject: Hi\r\n\r\nHello\r\n';
const FILL = `From: ann@x.example\r\nSubject: Large\r\n\r\n${`${'x'.repeat(98)}\r\n`.repeat(9_500)}`;

interface Allowance {
  readonly storage_mib: { readonly allowance: number; readonly used: number };
}

t.test('a full account gets nothing more, and nobody else loses a copy', async t => {
  const box = await startBox(t, { env: { POSTERN_LIMITS_STORAGE_MIB: '3', POSTERN_LIMITS_SENDS: '1000' } });
  const full = await createAgent(box, 'full');
  const other = await createAgent(box, 'other');
  const used = async () =>
    (await box.cliJson<Allowance>('allowance', 'show', '--account', full.email)).storage_mib.used;
  const client = await SmtpClient.ready(box.smtpPort);
  const begin = async (size: number | null) => {
    await client.command(`MAIL FROM:<ann@x.example>${size === null ? '' : ` SIZE=${size}`}`, 250);
    return client.command(`RCPT TO:<${full.address}>`);
  };

  t.match(await begin(4 * MIB), { code: 452, enhanced: '4.2.2' }, 'SIZE that cannot fit is refused at RCPT');
  t.match(await client.command(`RCPT TO:<${other.address}>`), { code: 452, enhanced: '4.2.2' });
  await client.command('RSET', 250);
  t.match(await begin(2 * MIB), { code: 250 });
  const second = await SmtpClient.ready(box.smtpPort);
  await second.command(`MAIL FROM:<ann@x.example> SIZE=${2.5 * MIB}`, 250);
  t.match(
    await second.command(`RCPT TO:<${full.address}>`),
    { code: 452, enhanced: '4.2.2' },
    'what is under way to it counts',
  );
  await second.command('RSET', 250);
  await second.command(`MAIL FROM:<ann@x.example> SIZE=${2 * MIB}`, 250);
  t.match(await second.command(`RCPT TO:<${full.address}>`), { code: 250 }, 'but fills a quarter at most');
  await second.close();
  await client.command('RSET', 250);

  t.match(await client.sendMail('ann@x.example', [full.address], FILL), { code: 250 });
  await untilFacts(box, isAtRest);
  const afterOne = await used();
  t.ok(afterOne > 1.7 && afterOne < 2, `${afterOne} MiB: raw bytes and content`);
  t.match(await begin(null), { code: 250 }, 'without SIZE a MiB is held');
  await client.command('RSET', 250);
  t.match(await begin(MIB + 300_000), { code: 452, enhanced: '4.2.2' });
  await client.command(`RCPT TO:<${other.address}>`, 250);
  await client.command('DATA', 354);
  t.match(await client.command(`${LETTER}.`), { code: 250 }, 'the other one gets its copy');
  t.match(
    await client.sendMail('ann@x.example', [full.address], FILL),
    { code: 250 },
    'never refused at the dot',
  );
  const facts = await untilFacts(box, isAtRest);
  t.same(facts.faults, []);
  t.ok((await used()) > 3);

  const path = `/v1/inboxes/${full.inboxId}`;
  const send = { to: [{ address: other.address }], subject: 'Hi', text: 'Hello', idempotency_key: 'one' };
  const before = await full.api.get('/v1/outbound/quota');
  const [list] = (await full.api.get(`${path}/messages`)).json<{ messages: { id: string }[] }>().messages;
  for (const [where, body] of [
    ['sent', send],
    ['drafts', { text: 'Hello' }],
    ['forward', { message_id: list?.id, to: send.to }],
  ] as const) {
    const answer = await full.api.post(`${path}/${where}`, body);
    t.match(
      [answer.status, answer.json()],
      [409, { error: { code: 'storage_limit_reached', message: /of 3 MiB/ } }],
      where,
    );
  }
  const feedback = await full.api.post('/v1/feedback', { body: 'More room, please.' });
  t.match([feedback.status, feedback.json()], [409, { error: { code: 'storage_limit_reached' } }]);
  t.same((await full.api.get('/v1/outbound/quota')).json(), before.json(), 'nothing was charged');
  t.equal((await other.api.post(`/v1/inboxes/${other.inboxId}/drafts`, { text: 'Hello' })).status, 201);
  const toFull = await other.api.post(`/v1/inboxes/${other.inboxId}/sent`, {
    ...send,
    to: [{ address: full.address }],
  });
  t.match(toFull.json(), { message: { status: 'rejected' } }, 'mail between inboxes is held to it too');

  // Trash counts; what is deleted for good does not, at once.
  await full.api.post(`/v1/messages/${list?.id}/trash`, undefined);
  t.ok((await used()) > 3);
  await full.api.delete(`/v1/messages/${list?.id}`);
  t.ok((await used()) < 2);
  t.match(await client.sendMail('ann@x.example', [full.address], LETTER), { code: 250 });
  t.equal((await full.api.post(`${path}/sent`, send)).status, 201, 'the key was unused');

  await box.cliJson('allowance', 'set', '--account', full.email, '--storage-mib', '0');
  t.match(await begin(null), { code: 452, enhanced: '4.2.2' });
  await client.close();
  const verified = await box.cliJson<{ sound: boolean }>('verify');
  t.equal(verified.sound, true);
});
