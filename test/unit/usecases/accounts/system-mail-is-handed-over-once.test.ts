import t from 'tap';
import { createSystemMail, SystemMailError } from '../../../../src/usecases/accounts/feedback.js';
import type { RelayAttempt, RelayOutcome } from '../../../../src/usecases/ports.js';

const NOW = Date.UTC(2026, 0, 15, 12);

function withRelay(outcome: RelayOutcome) {
  const attempts: RelayAttempt[] = [];
  const mail = createSystemMail({
    relay: {
      submit: async attempt => {
        attempts.push(attempt);
        return outcome;
      },
    },
    clock: () => NOW,
    from: { address: 'postmaster@example.org', name: 'Postern' },
  });
  return { mail, attempts };
}

const LETTER = { to: 'ann@elsewhere.example', subject: 'Hello', text: 'One\nTwo\n' };

t.test('what is composed is what goes out, from the postmaster and to one recipient', async t => {
  const { mail, attempts } = withRelay({ status: 'accepted', detail: '250 ok' });
  await mail.send(LETTER);
  t.match(attempts, [
    {
      id: /^[a-f0-9-]{36}$/,
      envelope: { from: 'postmaster@example.org', recipients: ['ann@elsewhere.example'] },
    },
  ]);
  t.equal(attempts.length, 1);
  const [head = '', ...body] = Buffer.from(attempts[0]?.content ?? [])
    .toString()
    .split('\r\n\r\n');
  const fields = new Map(head.split('\r\n').map(line => line.split(': ', 2) as [string, string]));
  t.match(fields.get('From'), /^"?Postern"? <postmaster@example\.org>$/);
  t.equal(fields.get('To'), 'ann@elsewhere.example');
  t.equal(fields.get('Subject'), 'Hello');
  t.equal(Date.parse(fields.get('Date') ?? ''), NOW);
  t.equal(fields.get('Message-ID'), `<${attempts[0]?.id}@example.org>`);
  t.match(fields.get('Content-Type'), /^text\/plain;/, 'neither HTML nor files');
  t.notOk(fields.has('Cc'));
  t.equal(body.join('\r\n\r\n'), 'One\r\nTwo\r\n');
});

t.test('a relay that does not take it is told of, and not asked again', async t => {
  for (const outcome of [
    { status: 'rejected', errorCode: 'E_RELAY_UNREACHABLE', detail: 'nobody there' },
    { status: 'unknown', errorCode: 'acceptance_unknown', detail: 'no answer' },
  ] as const) {
    const { mail, attempts } = withRelay(outcome);
    await t.rejects(mail.send(LETTER), new SystemMailError(`${outcome.errorCode}: ${outcome.detail}`));
    t.equal(attempts.length, 1);
  }
});

t.test('what is no address reaches no relay', async t => {
  const { mail, attempts } = withRelay({ status: 'accepted', detail: '' });
  for (const to of ['', 'ann', 'ann@elsewhere.example\r\nRCPT TO:<eve@evil.example>', 'a@b, c@d', '<a@b>']) {
    await t.rejects(mail.send({ ...LETTER, to }), SystemMailError, JSON.stringify(to));
  }
  t.same(attempts, []);
});
