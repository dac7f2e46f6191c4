import t from 'tap';
import { parseReply, type Step } from '../../../../src/relay/session/reply.js';
import { classifyReply } from '../../../../src/relay/smarthost/classify-reply.js';
import type { RelayErrorCode } from '../../../../src/usecases/ports.js';

/** A step, a reply as servers word it, and the error code that the agent gets. */
const table: readonly (readonly [Step | readonly Step[], string, RelayErrorCode])[] = [
  // The step decides.
  [['GREETING', 'EHLO'], '554 5.3.2 No SMTP service here', 'E_RELAY_UNREACHABLE'],
  ['EHLO', '550 5.7.1 Helo command rejected: Host not found', 'E_RELAY_UNREACHABLE'],
  ['STARTTLS', '454 4.7.0 TLS not available due to local problem', 'E_RELAY_TLS_FAILED'],
  ['STARTTLS', '502 5.5.1 Command not implemented', 'E_RELAY_TLS_FAILED'],
  ['MAIL', '550 5.1.8 Bad sender', 'E_SENDER_REJECTED'],
  ['MAIL', '553 5.7.1 <a@b.example>: Sender address rejected: not owned by user', 'E_SENDER_REJECTED'],
  ['RCPT', '550 5.1.1 <a@b.example>: Recipient address rejected: User unknown', 'E_RECIPIENT_REJECTED'],
  ['RCPT', '554 5.7.1 <a@b.example>: Relay access denied', 'E_RECIPIENT_REJECTED'],
  [['DATA', 'CONTENT', 'DOT'], '554 5.7.1 Message rejected as spam', 'E_MESSAGE_REJECTED'],
  ['DOT', '554 Message rejected: Email address is not verified.', 'E_MESSAGE_REJECTED'],
  ['DOT', '451 4.7.1 Service unavailable - try again later', 'E_MESSAGE_REJECTED'],
  ['DATA', '503 5.5.1 Bad sequence of commands', 'E_MESSAGE_REJECTED'],
  // For the time being.
  ['MAIL', '451 4.1.8 Domain of sender address does not resolve', 'E_TEMPORARY_FAILURE'],
  ['MAIL', '452 4.3.1 Insufficient system storage', 'E_TEMPORARY_FAILURE'],
  ['MAIL', '451 4.3.0 Temporary lookup failure', 'E_TEMPORARY_FAILURE'],
  ['RCPT', '450 4.7.1 Greylisted, try again in 300 seconds', 'E_TEMPORARY_FAILURE'],
  ['RCPT', '452 4.5.3 Too many recipients', 'E_TEMPORARY_FAILURE'],
  [['MAIL', 'RCPT', 'DATA', 'CONTENT'], '450 Later', 'E_TEMPORARY_FAILURE'],
  [['MAIL', 'RCPT', 'DATA', 'CONTENT'], '421 4.3.2 Shutting down', 'E_TEMPORARY_FAILURE'],
  ['GREETING', '421 4.3.2 Service not available, closing transmission channel', 'E_TEMPORARY_FAILURE'],
  ['GREETING', '421 Too many concurrent SMTP connections', 'E_TEMPORARY_FAILURE'],
  [['GREETING', 'EHLO', 'STARTTLS', 'AUTH'], '451 4.3.0 Temporary lookup failure', 'E_TEMPORARY_FAILURE'],
  [['EHLO', 'STARTTLS', 'AUTH'], '421 4.3.2 Shutting down', 'E_TEMPORARY_FAILURE'],
  // 421 ends the session, also after the final dot.
  ['DOT', '421 4.3.2 Shutting down', 'E_RELAY_UNREACHABLE'],

  // Authentication and TLS.
  ['AUTH', '535 5.7.8 Authentication credentials invalid', 'E_RELAY_AUTH_FAILED'],
  ['AUTH', '535-5.7.8 Username and Password not accepted.', 'E_RELAY_AUTH_FAILED'],
  ['AUTH', '454 4.7.0 Temporary authentication failure', 'E_RELAY_AUTH_FAILED'],
  ['AUTH', '454 4.7.0 Too many login attempts, please try again later.', 'E_RELAY_AUTH_FAILED'],
  ['AUTH', '534 5.7.9 Application-specific password required', 'E_RELAY_AUTH_FAILED'],
  ['AUTH', '538 5.7.11 Encryption required for requested authentication mechanism', 'E_RELAY_TLS_FAILED'],
  ['MAIL', '530 5.7.0 Authentication required', 'E_RELAY_AUTH_FAILED'],
  ['MAIL', '530 5.7.57 Client not authenticated to send mail', 'E_RELAY_AUTH_FAILED'],
  ['MAIL', '530 5.7.0 Must issue a STARTTLS command first', 'E_RELAY_TLS_FAILED'],
  ['RCPT', '550 5.7.1 Authentication required', 'E_RELAY_AUTH_FAILED'],
  ['MAIL', '535 5.7.8 Not allowed to send', 'E_RELAY_AUTH_FAILED'],

  // The size.
  [['MAIL', 'DATA', 'DOT'], '552 5.3.4 Message size exceeds fixed limit', 'E_MESSAGE_TOO_LARGE'],
  [['MAIL', 'RCPT'], '552 5.3.4 Message too big for system', 'E_MESSAGE_TOO_LARGE'],
  ['DOT', '552 Message size exceeds maximum permitted', 'E_MESSAGE_TOO_LARGE'],
  [['MAIL', 'DOT'], '552 Requested mail action aborted: exceeded allocation', 'E_MESSAGE_TOO_LARGE'],
  ['DOT', '554 5.2.3 Message length exceeds administrative limit', 'E_MESSAGE_TOO_LARGE'],
  ['DOT', '523 the message you sent is too large', 'E_MESSAGE_TOO_LARGE'],
  ['DOT', "552-5.2.3 Your message exceeded Google's message size limits.", 'E_MESSAGE_TOO_LARGE'],
  ['RCPT', '552 5.2.2 The email account that you tried to reach is over quota', 'E_RECIPIENT_REJECTED'],
  ['RCPT', '552 Requested mail action aborted: exceeded storage allocation', 'E_RECIPIENT_REJECTED'],
  [
    'DOT',
    '552-5.7.0 This message was blocked because its content presents a potential',
    'E_MESSAGE_REJECTED',
  ],
  ['DOT', '552 spam score too high', 'E_MESSAGE_REJECTED'],

  // Amazon SES.
  ['DOT', '454 Throttling failure: Maximum sending rate exceeded.', 'E_RATE_LIMIT_EXCEEDED'],
  ['DOT', '454 Throttling failure: Daily message quota exceeded.', 'E_DAILY_LIMIT_EXCEEDED'],
  // Gmail and Google Workspace.
  [
    'DOT',
    '550-5.4.5 Daily user sending limit exceeded. For more information on Gmail',
    'E_DAILY_LIMIT_EXCEEDED',
  ],
  ['DOT', '550-5.4.5 Daily SMTP relay sending limit exceeded for user.', 'E_DAILY_LIMIT_EXCEEDED'],
  ['MAIL', '550 5.7.1 Daily SMTP relay limit exceeded for customer.', 'E_DAILY_LIMIT_EXCEEDED'],
  ['MAIL', '450 4.2.1 Peak SMTP relay limit exceeded for customer.', 'E_RATE_LIMIT_EXCEEDED'],
  [
    ['GREETING', 'DOT'],
    '421-4.7.28 Our system has detected an unusual rate of unsolicited mail',
    'E_RATE_LIMIT_EXCEEDED',
  ],
  ['DOT', '550-5.7.28 Our system has detected mail in large numbers', 'E_RATE_LIMIT_EXCEEDED'],
  ['MAIL', '421 4.7.0 Try again later, closing connection.', 'E_TEMPORARY_FAILURE'],
  [
    'RCPT',
    '450-4.2.1 The user you are trying to contact is receiving mail at a rate that',
    'E_TEMPORARY_FAILURE',
  ],
  [
    'RCPT',
    '450 4.2.1 The user you are trying to contact is receiving mail too quickly',
    'E_TEMPORARY_FAILURE',
  ],
  // Microsoft 365.
  [
    'DOT',
    '421 4.4.2 Message submission rate for this client has exceeded the configured limit',
    'E_RATE_LIMIT_EXCEEDED',
  ],
  [
    'DOT',
    '554 5.2.0 STOREDRV.Submission.Exception:SubmissionQuotaExceededException',
    'E_DAILY_LIMIT_EXCEEDED',
  ],
  ['DOT', '550 5.2.2 Submission quota exceeded', 'E_DAILY_LIMIT_EXCEEDED'],
  [
    'DOT',
    '550 5.7.233 tenant exceeded its daily limit for sending to external recipients',
    'E_DAILY_LIMIT_EXCEEDED',
  ],
  // SendGrid, Mailgun, Postmark, hosters, Postfix, Exim.
  ['AUTH', '451 Authentication failed: Maximum credits exceeded', 'E_DAILY_LIMIT_EXCEEDED'],
  ['DOT', '451 You have exceeded your messaging limits', 'E_DAILY_LIMIT_EXCEEDED'],
  ['DOT', '550 5.7.1 User has exceeded its 24-hour sending limit.', 'E_DAILY_LIMIT_EXCEEDED'],
  ['RCPT', '550 You have reached the limit of 500 messages per day', 'E_DAILY_LIMIT_EXCEEDED'],
  ['DOT', '552 5.7.0 monthly sending quota used up', 'E_DAILY_LIMIT_EXCEEDED'],
  [
    'DOT',
    '421 4.7.0 Domain mg.example.com is not allowed to send: hourly sending limit',
    'E_RATE_LIMIT_EXCEEDED',
  ],
  ['DOT', '429 Too many requests', 'E_RATE_LIMIT_EXCEEDED'],
  ['RCPT', '550 Domain example.com has exceeded the max emails per hour (200/150)', 'E_RATE_LIMIT_EXCEEDED'],
  ['MAIL', '450 4.7.1 Error: too much mail from 192.0.2.1', 'E_RATE_LIMIT_EXCEEDED'],
  ['RCPT', '450 4.7.1 Error: too many recipients from 192.0.2.1', 'E_RATE_LIMIT_EXCEEDED'],
  ['RCPT', '451 Sender rate overlimit - 120.4 / 1h', 'E_RATE_LIMIT_EXCEEDED'],
  ['DOT', '450 4.7.0 You are sending too fast, slow down', 'E_RATE_LIMIT_EXCEEDED'],
  ['DOT', '550 5.7.0 Sending limit exceeded', 'E_RATE_LIMIT_EXCEEDED'],

  // Words that only look like a limit.
  ['RCPT', '550 5.1.1 No mailbox for corporate@example.com', 'E_RECIPIENT_REJECTED'],
  ['RCPT', '450 4.2.2 mailbox is over its daily quota', 'E_TEMPORARY_FAILURE'],
  ['RCPT', '452 4.5.3 Your message has too many recipients', 'E_TEMPORARY_FAILURE'],
  ['MAIL', '550 5.7.1 reverse-path not permitted today', 'E_SENDER_REJECTED'],
];

for (const [steps, line, wanted] of table) {
  for (const step of typeof steps === 'string' ? [steps] : steps) {
    t.test(`${step}: ${line}`, async t => {
      const reply = parseReply([line.replace(/^(\d{3})-/, '$1 ')]);
      if (reply === null) throw new Error('the row is no reply');
      t.equal(classifyReply(step, reply), wanted);
    });
  }
}
