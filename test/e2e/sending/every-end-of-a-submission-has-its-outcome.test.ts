import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { postSend, quota, type Receipt, submission } from '../../support/sending/sending.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';
import { andThen, drop, raw, type Script, say, stall } from '../../support/smarthost/smarthost-script.js';

interface Row {
  readonly what: string;
  readonly script: Script;
  readonly status: 'accepted' | 'rejected' | 'unknown';
  readonly code: string | null;
  /** Messages whose final dot reached the smarthost. */
  readonly submissions: 0 | 1;
}

const ROWS: readonly Row[] = [
  { what: 'everything is taken', script: {}, status: 'accepted', code: null, submissions: 1 },
  {
    what: 'a reply of several lines, in pieces',
    script: { dot: raw('250-2.0.0 ta', 'ken\r\n250 2.0.0 queu', 'ed\r\n') },
    status: 'accepted',
    code: null,
    submissions: 1,
  },
  ...(
    [
      ['the greeting is a refusal', { greeting: say('554 5.3.2 Go away') }, 'E_RELAY_UNREACHABLE'],
      ['the greeting is nonsense', { greeting: raw('hello\r\n') }, 'E_RELAY_UNREACHABLE'],
      ['no greeting', { greeting: drop }, 'E_RELAY_UNREACHABLE'],
      ['EHLO is refused', { ehlo: say('550 5.7.1 No') }, 'E_RELAY_UNREACHABLE'],
      ['EHLO is refused for now', { ehlo: andThen(say('421 4.3.2 Bye'), 'drop') }, 'E_TEMPORARY_FAILURE'],
      ['the sender is refused', { mail: say('550 5.7.1 Not you') }, 'E_SENDER_REJECTED'],
      ['MAIL is refused for the time being', { mail: say('451 4.3.0 Later') }, 'E_TEMPORARY_FAILURE'],
      [
        'too many messages',
        { mail: say('454 4.7.0 Maximum sending rate exceeded') },
        'E_RATE_LIMIT_EXCEEDED',
      ],
      ['a day too busy', { mail: say('454 4.7.0 Daily message quota exceeded') }, 'E_DAILY_LIMIT_EXCEEDED'],
      ['the recipient is refused', { rcpt: say('550 5.1.1 Nobody') }, 'E_RECIPIENT_REJECTED'],
      ['DATA is refused', { data: say('554 5.7.1 No') }, 'E_MESSAGE_REJECTED'],
      ['the connection ends at DATA', { data: drop }, 'E_RELAY_UNREACHABLE'],
    ] as const
  ).map(([what, script, code]): Row => ({ what, script, status: 'rejected', code, submissions: 0 })),
  {
    what: 'the message is refused behind the final dot',
    script: { dot: say('554 5.6.0 Spam') },
    status: 'rejected',
    code: 'E_MESSAGE_REJECTED',
    submissions: 1,
  },
  {
    what: 'the message is too large, it turns out',
    script: { dot: say('552 5.3.4 Too big') },
    status: 'rejected',
    code: 'E_MESSAGE_TOO_LARGE',
    submissions: 1,
  },
  ...(
    [
      ['the connection ends behind the final dot', { dot: drop }],
      ['a nonsense reply to the final dot', { dot: raw('what?\r\n') }],
      ['half a reply to the final dot', { dot: andThen(raw('25'), 'drop') }],
      ['no reply to the final dot', { dot: stall }],
    ] as const
  ).map(
    ([what, script]): Row => ({
      what,
      script,
      status: 'unknown',
      code: 'acceptance_unknown',
      submissions: 1,
    }),
  ),
];

t.test('status, code, charge and submissions for every way in which a submission can end', async t => {
  const { box, smarthost } = await startSmarthostBox(t, {
    POSTERN_LIMITS_SENDS: '1000',
    POSTERN_RELAY_RESPONSE_TIMEOUT_S: '2',
  });
  const agent = await createAgent(box);
  for (const row of ROWS) {
    await t.test(row.what, async t => {
      const before = (await quota(agent.api)).used;
      const seen = smarthost.submissions.length;
      await smarthost.perform(drop);
      smarthost.script = row.script;
      const answer = await postSend(agent, submission('ann@remote.example', { idempotency_key: key(row) }));
      t.equal(answer.status, 201);
      const { message, outcome_persisted } = answer.json<Receipt>();
      // A server that is silent is waited for longer than the request does: its outcome comes later.
      const code = row.script.dot === stall ? null : row.code;
      t.match(message, { status: row.status, error_code: code });
      t.equal(message.provider_message_id === null, row.status !== 'accepted');
      t.equal(outcome_persisted, true);
      t.equal((await quota(agent.api)).used - before, row.status === 'rejected' ? 0 : 1, 'charge');
      t.equal(smarthost.submissions.length - seen, row.submissions, 'submissions');

      smarthost.script = {};
      const again = await postSend(agent, submission('ann@remote.example', { idempotency_key: key(row) }));
      t.match(again.json<Receipt>(), { replayed: true, message: { id: message.id, status: row.status } });
      t.equal(again.status, 200);
      t.equal(smarthost.submissions.length - seen, row.submissions, 'a retry submits nothing');
    });
  }

  await t.test('one refused recipient of three keeps the message from all', async t => {
    await smarthost.perform(drop);
    const seen = smarthost.submissions.length;
    smarthost.script = { rcpt: ({ recipient }) => (recipient === 2 ? say('550 5.1.1 Nobody') : null) };
    const answer = await postSend(agent, {
      ...submission('ann@remote.example'),
      cc: [{ address: 'bob@remote.example' }],
      bcc: [{ address: 'eve@remote.example' }],
    });
    t.match(answer.json<Receipt>().message, { status: 'rejected', error_code: 'E_RECIPIENT_REJECTED' });
    t.equal(smarthost.submissions.length, seen);
    smarthost.script = {};
  });

  await t.test('nobody there', async t => {
    await smarthost.stop();
    const before = (await quota(agent.api)).used;
    const answer = await postSend(agent, submission('ann@remote.example'));
    t.match(answer.json<Receipt>().message, { status: 'rejected', error_code: 'E_RELAY_UNREACHABLE' });
    t.equal((await quota(agent.api)).used, before);
  });
});

function key(row: Row): string {
  return `row-${ROWS.indexOf(row)}`;
}
