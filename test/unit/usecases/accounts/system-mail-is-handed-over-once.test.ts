import t from 'tap';
import {
  createSystemMail,
  SystemMailError,
  type SystemMessage,
} from '../../../../src/usecases/accounts/feedback.js';
import type { RelayAttempt, RelayOutcome } from '../../../../src/usecases/ports.js';

const NOW = Date.UTC(2026, 0, 15, 12);

function withRelay(outcome: RelayOutcome) {
  const attempts: RelayAttempt[] = [];
  const composed: SystemMessage[] = [];
  const mail = createSystemMail({
    relay: {
      submit: async attempt => {
        attempts.push(attempt);
        return outcome;
      },
    },
    compose: message => {
      composed.push(message);
      return Buffer.from(`Subject: ${message.subject}\r\n\r\n${message.text}`);
    },
    clock: () => NOW,
    from: { address: 'postmaster@example.org', name: 'Postern' },
  });
  return { mail, attempts, composed };
}

const LETTER = { to: 'ann@elsewhere.example', subject: 'Hello', text: 'One\nTwo\n' };

t.test('what is composed is what goes out, from the postmaster and to one recipient', async t => {
  const { mail, attempts, composed } = withRelay({ status: 'accepted', detail: '250 ok' });
  await mail.send(LETTER);
  t.match(composed, [
    {
      messageId: /^[a-f0-9-]{36}@example\.org$/,
      date: NOW,
      from: { address: 'postmaster@example.org', name: 'Postern' },
      to: [{ address: 'ann@elsewhere.example' }],
      subject: 'Hello',
      text: 'One\nTwo\n',
      html: null,
      files: [],
    },
  ]);
  t.same(attempts[0]?.envelope, { from: 'postmaster@example.org', recipients: ['ann@elsewhere.example'] });
  t.equal(attempts[0]?.id, composed[0]?.id);
  t.equal(composed[0]?.messageId, `${composed[0]?.id}@example.org`);
  t.match(Buffer.from(attempts[0]?.content ?? []).toString(), 'Subject: Hello\r\n\r\nOne');
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
