import { isEnhancedCode, MAX_DIAGNOSTIC_LENGTH, saysNoSuchAddress } from '../../domain/delivery-reports.js';
import { toMailDate } from '../../domain/instants.js';
import type { StatusFields } from '../../mail/write/compose-report.js';
import type { SentRecord } from '../../store/mailbox/messages.js';
import { isNoSuchAddress } from './delivery-states.js';

/** What became of a message at some of its recipients; all of whom something is to be said at this time. */
export interface Notice {
  readonly record: Pick<
    SentRecord,
    | 'id'
    | 'inboxId'
    | 'messageId'
    | 'mentionsItself'
    | 'reservedAt'
    | 'from'
    | 'to'
    | 'cc'
    | 'subject'
    | 'replyHeaders'
  >;
  /** Each once; not empty. */
  readonly recipients: readonly NoticedRecipient[];
  /** Until when it is tried again for those that are `queued`, in milliseconds since the epoch. */
  readonly retryUntil: number;
}

export interface NoticedRecipient {
  readonly address: string;
  /**
   * `failed`: it is not tried any more. `queued`: it has not arrived yet and is tried on. `unknown`: it may have arrived,
   * and is not tried again by itself.
   */
  readonly state: 'failed' | 'queued' | 'unknown';
  /** The server of the last attempt; null when none was reached. */
  readonly host: string | null;
  /** Enhanced status code (RFC 3463) of that attempt; null when there is none. */
  readonly code: string | null;
  /** The server's reply, or what happened. */
  readonly reply: string | null;
  /** When that attempt was, in milliseconds since the epoch; null when there was none. */
  readonly at: number | null;
}

/** In the order in which a notice tells of them. */
const STATES = ['failed', 'unknown', 'queued'] as const;
type State = NoticedRecipient['state'];

const SUBJECTS: Readonly<Record<State, string>> = {
  failed: 'Not delivered',
  unknown: 'Delivery uncertain',
  queued: 'Not delivered yet',
};

/** What is worst of all, and which message it is about. */
export function noticeSubject({ record, recipients }: Notice): string {
  const worst = STATES.find(state => recipients.some(one => one.state === state)) ?? 'failed';
  return record.subject === '' ? SUBJECTS[worst] : `${SUBJECTS[worst]}: ${record.subject}`;
}

/** What happened to the message at which recipient, and what to do. Lines end in LF. */
export function noticeText(notice: Notice, hostname: string): string {
  const { record, recipients } = notice;
  const paragraphs = [
    wrapped(`This is the mail system of ${hostname}, about this message of yours:`),
    [
      `    Subject: ${record.subject === '' ? '(none)' : record.subject}`,
      `    Sent:    ${toMailDate(record.reservedAt)}`,
      `    Id:      ${record.id}`,
    ].join('\n'),
    ...STATES.flatMap(state => {
      const those = recipients.filter(one => one.state === state);
      if (those.length === 0) return [];
      return [wrapped(whatHappened(notice, state, those.length)), ...those.map(recipientText)];
    }),
  ];
  if (recipients.some(({ state }) => state === 'unknown')) {
    paragraphs.push(`For the operator:\n    postern queue retry ${record.id} --even-if-delivered`);
  }
  if (recipients.some(isServers)) paragraphs.push(wrapped(WHOSE_WORDS));
  return `${paragraphs.join('\n\n')}\n`;
}

const WHOSE_WORDS =
  'What a server said comes from another system: it tells why, and is no instruction to anybody.';

function whatHappened({ retryUntil }: Notice, state: State, count: number): string {
  const whom = count === 1 ? 'the recipient below' : `the ${count} recipients below`;
  switch (state) {
    case 'failed':
      return `It did not reach ${whom}, and it is not tried any more. This says nothing of other recipients: where one fails, you are told.`;
    case 'queued':
      return `It has not reached ${whom} yet. It is tried again by itself until ${toMailDate(retryUntil)}; there is nothing to do. You are told if it fails in the end, and not again before.`;
    case 'unknown':
      return `It may have reached ${whom}, or may not: all of it had been sent when the connection ended, before the server said whether it takes it. It is not sent again by itself, because it could then arrive twice. Ask whether it has come. If it has not, write anew, or the operator of this service can have it sent once more (the command is below).`;
  }
}

/** Are its words the reply of a server, and not ours about it? */
function isServers({ host, reply }: NoticedRecipient): boolean {
  return host !== null && /^[245]\d\d\b/.test(reply ?? '');
}

function recipientText(one: NoticedRecipient): string {
  const { address, state, host, reply } = one;
  const advice = state === 'failed' ? adviceOf(one) : [];
  const where = host === null ? '' : ` at ${plain(host)}`;
  const said = `${isServers(one) ? `${plain(host ?? '')} said` : `What happened${where}`}: ${plain(reply)}`;
  return [address, ...[...advice, said].map(text => wrapped(text, '    '))].join('\n');
}

/** What to do about a failure, by its enhanced code (RFC 3463 section 3). */
function adviceOf(one: NoticedRecipient): string[] {
  const { address } = one;
  const code = one.code ?? '';
  if (isNoSuchAddress(one)) {
    return [
      `There is no such address (${code}). Check how it is spelt, or ask its owner. For 90 days nothing more is sent there from your account; the operator can lift that: postern suppression remove ${address} --account EMAIL`,
    ];
  }
  if (saysNoSuchAddress(code)) return [`There is no such inbox here (${code}). Check how it is spelt.`];
  const [, subject, detail] = code.split('.');
  if (code.startsWith('4.')) {
    return [
      'It was tried for as long as messages are, and the server could not be reached or did not take it. Send it anew later, or reach the recipient in another way.',
    ];
  }
  if (subject === '2' && detail === '2') return ['The mailbox is full. Send it anew in some days.'];
  if ((subject === '3' && detail === '4') || (subject === '2' && detail === '3')) {
    return ['The message is too large for the server. Send a smaller one, or a link to its files.'];
  }
  if (subject === '4') return ['The mail of that domain cannot be delivered. Check how the domain is spelt.'];
  if (subject === '7') {
    return [
      'The server refuses the message by its rules. The same message will be refused again: tell the operator of this service, or reach the recipient in another way.',
    ];
  }
  return ['The server refuses it for good. Its words say why.'];
}

/** The fields of the message, then those of each recipient (RFC 3464 section 2). */
export function noticeFields(notice: Notice, hostname: string): StatusFields[] {
  const { record, recipients, retryUntil } = notice;
  return [
    [
      ['Reporting-MTA', `dns; ${hostname}`],
      ['Arrival-Date', toMailDate(record.reservedAt)],
    ],
    ...recipients.map(one => recipientFields(one, retryUntil)),
  ];
}

function recipientFields(one: NoticedRecipient, retryUntil: number): StatusFields {
  const { address, state, host, code, reply, at } = one;
  const isDelay = state === 'queued';
  // Words of ours are no diagnostic code of SMTP (RFC 3464 section 2.3.6).
  const type = isServers(one) ? 'smtp' : 'x-postern';
  const status = code !== null && isEnhancedCode(code) ? code : isDelay ? '4.0.0' : '5.0.0';
  return [
    ['Final-Recipient', `rfc822; ${address}`],
    ['Action', isDelay ? 'delayed' : 'failed'],
    ['Status', status],
    ...(host === null ? [] : [['Remote-MTA', `dns; ${plain(host)}`] as const]),
    ['Diagnostic-Code', `${type}; ${plain(reply)}`],
    ...(at === null ? [] : [['Last-Attempt-Date', toMailDate(at)] as const]),
    ...(isDelay ? [['Will-Retry-Until', toMailDate(retryUntil)] as const] : []),
  ];
}

/** One line of printable ASCII, whatever a server has said. */
function plain(text: string | null): string {
  const printable = (text ?? '')
    .slice(0, MAX_DIAGNOSTIC_LENGTH)
    .replace(/[^ -~]+/g, ' ')
    .replace(/ +/g, ' ')
    .trim();
  return printable === '' ? '(nothing)' : printable;
}

/** Characters of a line of text (RFC 5322 section 2.1.1). */
const WIDTH = 78;

function wrapped(text: string, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > WIDTH) {
      lines.push(indent + line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, indent + line].join('\n');
}
