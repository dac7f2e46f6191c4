import t from 'tap';
import type { AcceptOutcome } from '../../../../src/usecases/ports.js';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';

const raw = 'Subject: x\r\n\r\nx\r\n';
const to = ['agent@example.org'];

t.test('no 250 before the commit has resolved', async t => {
  const { port, inbound } = await withListener(t);
  let resolve: (outcome: AcceptOutcome) => void = () => {};
  inbound.commitWith = () => new Promise(settle => (resolve = settle));
  const client = await SmtpClient.ready(port);
  const committing = inbound.waitFor('commit');
  const reply = client.sendMail('a@b.example', to, raw);
  await committing;
  await client.line('NOOP');
  t.equal(client.unread, 0);
  resolve({ status: 'accepted', messageIds: [] });
  t.equal((await reply).text, '250 2.0.0 OK');
  await client.expect(250);
});

for (const [name, commit, code, enhanced, reason] of [
  ['every inbox gone', async () => ({ status: 'no_recipients' }), 550, '5.1.1', 'no_recipients'],
  ['a sender that nobody takes', async () => ({ status: 'blocked' }), 550, '5.7.1', 'sender_blocked'],
  ['an author who is not proven', async () => ({ status: 'unproven' }), 550, '5.7.1', 'author_unproven'],
  ['an author nobody can tell', async () => ({ status: 'check_later' }), 451, '4.7.5', 'author_unknown'],
  [
    'what its domain disowns',
    async () => ({ status: 'refused_by_domain', domain: 'bank.example' }),
    550,
    '5.7.1',
    'refused_by_domain',
  ],
  ['no room left', async () => ({ status: 'no_room' }), 452, '4.3.1', 'no_room'],
  ['a commit that failed', () => Promise.reject(new Error('EIO')), 451, '4.3.0', 'store_error'],
] as const) {
  t.test(`${name}: ${code} ${enhanced}, and the session goes on`, async t => {
    const { port, inbound, listener } = await withListener(t);
    inbound.commitWith = commit as () => Promise<AcceptOutcome>;
    const client = await SmtpClient.ready(port);
    t.match(await client.sendMail('a@b.example', to, raw), { code, enhanced });
    await client.command('NOOP', 250);
    t.equal(client.unread, 0);
    t.match(inbound.bodies, [{ commits: 1, aborts: 0 }]);
    t.match(listener.stats(), { acceptedMessages: 0, refusedMessages: 1, refusals: { [reason]: 1 } });
  });
}

t.test('a store that fails in the middle of DATA: 451 to the final dot', async t => {
  const { port, inbound } = await withListener(t);
  inbound.failWriting = true;
  const client = await SmtpClient.ready(port);
  t.match(await client.sendMail('a@b.example', to, raw), { code: 451, enhanced: '4.3.0' });
  t.match(inbound.bodies, [{ commits: 0, aborts: 1 }]);
  inbound.failWriting = false;
  t.equal((await client.sendMail('a@b.example', to, raw)).code, 250);
});

t.test('a window that never opens because the store failed: 451 as well', async t => {
  const { port, inbound } = await withListener(t);
  inbound.isSlow = true;
  inbound.failDraining = true;
  const client = await SmtpClient.ready(port);
  await client.openData('a@b.example', to);
  await client.write(raw);
  await inbound.waitFor('abort');
  await client.write('more\r\n.\r\n');
  await client.expect(451);
  t.match(inbound.bodies, [{ commits: 0, aborts: 1 }]);
});

t.test('a message that cannot even begin: 451 at DATA', async t => {
  const { port, inbound } = await withListener(t);
  inbound.failBegin = true;
  const client = await SmtpClient.ready(port);
  await client.command('MAIL FROM:<a@b.example>', 250);
  await client.command('RCPT TO:<agent@example.org>', 250);
  await client.command('DATA', 451);
  await client.command('NOOP', 250);
});

t.test('a full disk is said at MAIL, and at DATA', async t => {
  const { port, inbound } = await withListener(t);
  inbound.isFull = true;
  const client = await SmtpClient.ready(port);
  t.equal((await client.command('MAIL FROM:<a@b.example>', 452)).enhanced, '4.3.1');
  inbound.isFull = false;
  await client.command('MAIL FROM:<a@b.example>', 250);
  await client.command('RCPT TO:<agent@example.org>', 250);
  inbound.isFull = true;
  t.equal((await client.command('DATA', 452)).enhanced, '4.3.1');
  t.same(inbound.bodies, []);
});
