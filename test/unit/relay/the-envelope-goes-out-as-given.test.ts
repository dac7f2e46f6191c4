import t from 'tap';
import { say } from '../../support/smarthost/smarthost-script.js';
import { attempt, CONTENT, withSmarthost } from './smarthost/with-smarthost.js';
import { withMixedRelay } from './with-relay.js';

t.test('one transaction, line by line', async t => {
  const { smarthost, transport } = await withSmarthost(t);
  const recipients = ['Two@Elsewhere.EXAMPLE', "o'neil+tag@x-1.example", 'one@elsewhere.example'];
  const outcome = await transport.submit(attempt({ from: 'Agent.X@Example.org', recipients }));
  t.match(outcome, { status: 'accepted', detail: '250 2.0.0 OK queued as 1' });
  await transport.close(1000);
  // Neither BODY, SMTPUTF8 nor anything else that the server offers; letter case and order as given.
  t.same(smarthost.sessions[0]?.lines, [
    'EHLO mx.example.org',
    `MAIL FROM:<Agent.X@Example.org> SIZE=${CONTENT.length}`,
    'RCPT TO:<Two@Elsewhere.EXAMPLE>',
    "RCPT TO:<o'neil+tag@x-1.example>",
    'RCPT TO:<one@elsewhere.example>',
    'DATA',
    'QUIT',
  ]);
  t.notOk(smarthost.sessions[0]?.hasPipelined, 'each command waits for the answer to the one before');
  t.match(smarthost.submissions, [{ from: 'Agent.X@Example.org', recipients }]);
  t.equal(smarthost.submissions[0]?.content.toString(), CONTENT);
});

t.test('the null sender', async t => {
  const { smarthost, transport } = await withSmarthost(t);
  t.equal((await transport.submit(attempt({ from: '' }))).status, 'accepted');
  t.equal(smarthost.submissions[0]?.from, '');
});

t.test('without SIZE in EHLO there is none in MAIL', async t => {
  const { smarthost, transport } = await withSmarthost(t, {}, {}, { size: null });
  t.equal((await transport.submit(attempt())).status, 'accepted');
  t.equal(smarthost.submissions[0]?.mailParameters, '');
});

t.test('a server that knows no EHLO gets HELO', async t => {
  const { smarthost, transport } = await withSmarthost(t, {
    ehlo: ({ line }) => (line.startsWith('EHLO') ? say('502 5.5.1 What?') : null),
  });
  t.equal((await transport.submit(attempt())).status, 'accepted');
  t.match(smarthost.sessions[0]?.lines, [
    'EHLO mx.example.org',
    'HELO mx.example.org',
    'MAIL FROM:<agent@example.org>',
  ]);
});

t.test('a message that the server said it would not take is not offered', async t => {
  const { smarthost, transport } = await withSmarthost(t, {}, {}, { size: CONTENT.length - 1 });
  t.match(await transport.submit(attempt()), {
    status: 'rejected',
    errorCode: 'E_MESSAGE_TOO_LARGE',
    detail: /up to \d+ bytes/,
  });
  t.equal((await transport.submit(attempt({ content: 'a: b\r\n\r\n' }))).status, 'accepted');
  t.equal(smarthost.sessions.length, 1, 'the session was as good as before');
  t.equal(smarthost.sessions[0]?.lines.filter(line => line.startsWith('MAIL')).length, 1);
});

t.test('SIZE 0 is no limit', async t => {
  const { transport } = await withSmarthost(t, {}, {}, { size: 0 });
  t.equal((await transport.submit(attempt())).status, 'accepted');
});

t.test('an address or a message that is not of the grammar never reaches a server', async t => {
  const { relay, smarthost, inbound } = await withMixedRelay(t);
  for (const wrong of [
    attempt({ recipients: ['one@elsewhere.example\r\nRCPT TO:<two@elsewhere.example>'] }),
    attempt({ recipients: ['agent@example.org', '"one two"@elsewhere.example'] }),
    attempt({ from: 'agent@example.org> BODY=8BITMIME' }),
    attempt({ content: 'a: b\r\n\r\nbare\nLF\r\n' }),
    attempt({ content: 'a: b\r\n\r\nMüller\r\n' }),
  ]) {
    t.match(await relay.submit(wrong), { status: 'rejected', detail: /nothing was sent$/ });
  }
  t.equal(smarthost.sessions.length, 0);
  t.same(inbound.bodies, []);
});
