import t from 'tap';
import type { SmarthostOptions } from '../../../../src/relay/smarthost/options.js';
import type { RelayErrorCode } from '../../../../src/usecases/ports.js';
import {
  type Act,
  andThen,
  drop,
  raw,
  reset,
  type Script,
  say,
  stall,
} from '../../../support/smarthost/smarthost-script.js';
import { attempt, leftBehind, withSmarthost } from './with-smarthost.js';

type Wanted = RelayErrorCode | 'accepted' | 'unknown';

interface Row {
  readonly claim: string;
  readonly script: Script;
  readonly wanted: Wanted;
  /** Messages whose final dot the server saw. */
  readonly submissions?: number;
  readonly options?: Partial<SmarthostOptions>;
  readonly content?: Buffer;
}

/** Too long to be in the buffers of the network as a whole. */
const LONG = Buffer.from(`${'x'.repeat(76)}\r\n`.repeat(100_000));
const inTime = { setupMs: 150, commandMs: 150, dataMs: 150, blockMs: 150, verdictMs: 150 };

/** Failures that are the same at every step with a reply. */
const faults: readonly (readonly [string, Act])[] = [
  ['nothing, ever', stall],
  ['the end of the connection', drop],
  ['a reset', reset],
  ['garbage', say('what?')],
  ['a line without a code', say('OK')],
  ['an unfinished line, then the end', andThen(raw('250 O'), 'drop')],
  ['an unfinished reply, then the end', andThen(say('250-OK'), 'drop')],
  ['codes that differ', say('250-OK', '550 no')],
  ['half a line, and nothing more', andThen(raw('25'), 'stall')],
];

const timeouts = ['nothing, ever', 'half a line, and nothing more'];

const steps = ['greeting', 'ehlo', 'mail', 'rcpt', 'data'] as const;

const beforeTheDot: readonly Row[] = steps.flatMap(step =>
  faults.map(([fault, act]) => ({
    claim: `${step}: ${fault}`,
    script: { [step]: act },
    wanted: timeouts.includes(fault) ? ('E_RELAY_TIMEOUT' as const) : ('E_RELAY_UNREACHABLE' as const),
    options: timeouts.includes(fault) ? inTime : {},
  })),
);

const behindTheDot: readonly Row[] = faults.map(([fault, act]) => ({
  claim: `final dot: ${fault}`,
  script: { dot: act },
  wanted: 'unknown',
  submissions: 1,
  options: timeouts.includes(fault) ? inTime : {},
}));

const refusals: readonly Row[] = [
  { claim: 'greeting: 554', script: { greeting: say('554 No') }, wanted: 'E_RELAY_UNREACHABLE' },
  { claim: 'greeting: 250', script: { greeting: say('250 OK') }, wanted: 'E_RELAY_UNREACHABLE' },
  { claim: 'ehlo: 550', script: { ehlo: say('550 No') }, wanted: 'E_RELAY_UNREACHABLE' },
  { claim: 'mail: 550', script: { mail: say('550 5.1.8 No') }, wanted: 'E_SENDER_REJECTED' },
  { claim: 'mail: 354', script: { mail: say('354 Go on') }, wanted: 'E_RELAY_UNREACHABLE' },
  { claim: 'rcpt: 550', script: { rcpt: say('550 5.1.1 No') }, wanted: 'E_RECIPIENT_REJECTED' },
  { claim: 'rcpt: 450', script: { rcpt: say('450 4.7.1 Greylisted') }, wanted: 'E_TEMPORARY_FAILURE' },
  { claim: 'rcpt: 354', script: { rcpt: say('354 Go on') }, wanted: 'E_RELAY_UNREACHABLE' },
  { claim: 'data: 451', script: { data: say('451 4.3.0 No') }, wanted: 'E_TEMPORARY_FAILURE' },
  { claim: 'data: 250', script: { data: say('250 OK') }, wanted: 'E_RELAY_UNREACHABLE' },
  {
    claim: 'final dot: 554',
    script: { dot: say('554 5.7.1 No') },
    wanted: 'E_MESSAGE_REJECTED',
    submissions: 1,
  },
  {
    claim: 'final dot: 451',
    script: { dot: say('451 4.3.0 No') },
    wanted: 'E_MESSAGE_REJECTED',
    submissions: 1,
  },
  {
    claim: 'final dot: 552',
    script: { dot: say('552 5.3.4 No') },
    wanted: 'E_MESSAGE_TOO_LARGE',
    submissions: 1,
  },
  {
    claim: 'final dot: 454 for a rate',
    script: { dot: say('454 Throttling failure: Maximum sending rate exceeded.') },
    wanted: 'E_RATE_LIMIT_EXCEEDED',
    submissions: 1,
  },
  { claim: 'final dot: 354', script: { dot: say('354 Go on') }, wanted: 'unknown', submissions: 1 },
  {
    claim: 'final dot: 550 over several lines',
    script: { dot: say('550-5.7.1 One', '550-5.7.1 two', '550 5.7.1 three') },
    wanted: 'E_MESSAGE_REJECTED',
    submissions: 1,
  },
  {
    claim: 'final dot: 550 in pieces',
    script: { dot: raw('5', '50', ' 5.7.1 N', 'o\r', '\n') },
    wanted: 'E_MESSAGE_REJECTED',
    submissions: 1,
  },
  ...(['greeting', 'ehlo', 'mail', 'rcpt', 'data'] as const).map(
    (step): Row => ({
      claim: `${step}: 421 and the end`,
      script: { [step]: andThen(say('421 4.3.2 Closing'), 'drop') },
      wanted: 'E_TEMPORARY_FAILURE' as const,
    }),
  ),
  {
    claim: 'final dot: 421 and the end',
    script: { dot: andThen(say('421 4.3.2 Closing'), 'drop') },
    wanted: 'E_RELAY_UNREACHABLE',
    submissions: 1,
  },
];

const content = (step: Act, afterBytes = 1): Script => ({ content: { afterBytes, step } });

const amidTheContent: readonly Row[] = [
  { claim: 'content: the end', script: content(drop, 100_000), wanted: 'E_RELAY_UNREACHABLE', content: LONG },
  {
    claim: 'content: a reset',
    script: content(reset, 100_000),
    wanted: 'E_RELAY_UNREACHABLE',
    content: LONG,
  },
  {
    claim: 'content: nobody reads it',
    script: content(stall),
    wanted: 'E_RELAY_TIMEOUT',
    content: LONG,
    options: inTime,
  },
  {
    claim: 'content: it takes too long as a whole',
    script: content(stall),
    wanted: 'E_RELAY_TIMEOUT',
    content: LONG,
    options: { contentMs: 150 },
  },
  {
    claim: 'content: 552 before its end',
    script: content(say('552 5.3.4 Too much'), 100_000),
    wanted: 'E_MESSAGE_TOO_LARGE',
    content: LONG,
  },
  {
    claim: 'content: 421 before its end',
    script: content(say('421 4.4.2 Too slow'), 100_000),
    wanted: 'E_TEMPORARY_FAILURE',
    content: LONG,
  },
  {
    claim: 'content: 250 before its end, from a server that has taken something',
    script: content(say('250 OK'), 100_000),
    wanted: 'unknown',
    content: LONG,
  },
];

const accepted: readonly Row[] = [
  { claim: 'a good server', script: {}, wanted: 'accepted' },
  { claim: 'mail: 250 in pieces', script: { mail: raw('2', '50 ', 'OK', '\r', '\n') }, wanted: 'accepted' },
  { claim: 'rcpt: 251', script: { rcpt: say('251 Will forward') }, wanted: 'accepted' },
  {
    claim: 'final dot: 250 over several lines',
    script: { dot: say('250-2.0.0 O', '250 2.0.0 K') },
    wanted: 'accepted',
  },
  { claim: 'final dot: 250 in pieces', script: { dot: raw('25', '0 OK', '\r\n') }, wanted: 'accepted' },
  {
    claim: 'final dot: 250 and the end',
    script: { dot: andThen(say('250 OK'), 'drop') },
    wanted: 'accepted',
  },
  { claim: 'final dot: 250 and garbage', script: { dot: raw('250 OK\r\nwhat?\r\n') }, wanted: 'accepted' },
  { claim: 'final dot: 200', script: { dot: say('200 fine') }, wanted: 'accepted' },
].map(row => ({ ...row, submissions: 1 }) as Row);

for (const row of [...beforeTheDot, ...refusals, ...amidTheContent, ...behindTheDot, ...accepted]) {
  t.test(row.claim, async t => {
    const { smarthost, transport } = await withSmarthost(t, row.script, row.options);
    const outcome = await transport.submit(
      attempt(row.content === undefined ? {} : { content: row.content }),
    );
    const got = outcome.status === 'rejected' ? outcome.errorCode : outcome.status;
    t.equal(got, row.wanted, outcome.detail);
    if (outcome.status === 'unknown') t.equal(outcome.errorCode, 'acceptance_unknown');
    t.ok(outcome.detail.length > 0 && outcome.detail.length < 600, outcome.detail);
    t.equal(smarthost.submissions.length, row.submissions ?? 0);
    const mails = smarthost.sessions
      .flatMap(session => session.lines)
      .filter(line => line.startsWith('MAIL'));
    t.ok(mails.length <= 1, 'nothing is tried a second time');
    await transport.close(0);
    await smarthost.stop();
    t.same(await leftBehind(), []);
  });
}

t.test('no server at all', async t => {
  const { smarthost, transport } = await withSmarthost(t);
  await smarthost.stop();
  const outcome = await transport.submit(attempt());
  t.match(outcome, { status: 'rejected', errorCode: 'E_RELAY_UNREACHABLE', detail: /ECONNREFUSED/ });
});

t.test('a name that does not exist', async t => {
  const { transport } = await withSmarthost(t, {}, { host: 'no-such-host.invalid' });
  const outcome = await transport.submit(attempt());
  t.match(outcome, { status: 'rejected', errorCode: 'E_RELAY_UNREACHABLE', detail: /no-such-host\.invalid/ });
});
