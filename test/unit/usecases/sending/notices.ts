import type { Notice, NoticedRecipient } from '../../../../src/usecases/sending/notice-words.js';

/** A recipient for whom something went wrong. */
export function noticed(fields: Partial<NoticedRecipient> = {}): NoticedRecipient {
  return {
    address: 'ann@remote.example',
    state: 'failed',
    host: 'mx.remote.example',
    code: '5.1.1',
    reply: '550 5.1.1 <ann@remote.example>: Recipient address rejected: User unknown',
    at: Date.UTC(2026, 0, 15, 12, 0, 5),
    ...fields,
  };
}

const retryUntil = Date.UTC(2026, 0, 17, 12);

export const SENT: Notice['record'] = {
  id: '019bc1a2-0000-7000-8000-000000000001' as Notice['record']['id'],
  inboxId: '019bc1a2-0000-7000-8000-000000000002' as Notice['record']['inboxId'],
  messageId: '019bc1a2-0000-7000-8000-000000000001@example.org',
  reservedAt: Date.UTC(2026, 0, 15, 12),
  from: { address: 'agent@example.org', name: 'The Agent' },
  to: [{ address: 'ann@remote.example', name: 'Ann' }],
  cc: [],
  subject: 'Notes',
  replyHeaders: null,
};

const MANY = Array.from({ length: 50 }, (_, n) => `n${n}.${'x'.repeat(50)}@${'long.'.repeat(30)}example`);

/** Notices of every kind, with what servers and agents can put into them. */
export const NOTICES: readonly Notice[] = [
  [noticed()],
  [noticed({ state: 'queued', code: '4.4.1', reply: 'no connection', host: null })],
  [noticed({ state: 'unknown', code: '4.4.2', reply: 'the connection was lost' })],
  [noticed({ at: null, host: null, code: '5.4.4', reply: 'no mail server' })],
  [
    noticed({ address: 'a@x.example', state: 'queued', code: null, reply: null, at: null }),
    noticed({ address: 'b@x.example', state: 'unknown', code: '4.4.2' }),
    noticed({ address: 'c@x.example' }),
  ],
  ...['5.2.2', '5.2.3', '5.3.4', '5.4.6', '5.7.1', '5.6.0', '4.4.7'].map(code => [noticed({ code })]),
]
  .map((recipients): Notice => ({ record: SENT, recipients, retryUntil }))
  .concat([
    {
      record: { ...SENT, subject: '', replyHeaders: { inReplyTo: '<p@x>', references: '<r@x> <p@x>' } },
      recipients: [
        noticed({ address: 'a@x.example', reply: '', code: '' }),
        noticed({ reply: 'é\r\n.\r\n--=_\0 next\u2028line', host: 'mx\r\nX: y' }),
      ],
      retryUntil,
    },
    {
      record: {
        ...SENT,
        subject: `Grüße 日本 =?utf-8?Q?x?= ${'long '.repeat(150).trim()}`,
        to: MANY.map(address => ({ address, name: 'Ann '.repeat(60).trim() })),
        from: { address: 'agent@example.org', name: 'Ägent "x"' },
        mentionsItself: true,
      },
      recipients: MANY.map((address, n) =>
        noticed({ address, code: `5.${n % 8}.${n % 5}`, reply: 'x'.repeat(500) }),
      ),
      retryUntil,
    },
  ]);
