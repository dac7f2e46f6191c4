import type { RelayErrorCode } from '../../usecases/ports.js';
import type { ServerReply, Step } from './reply.js';

/** The smarthost requires authentication (RFC 4954 section 6) or encryption (RFC 3207 section 4) first. */
const AUTH_CODES: readonly number[] = [530, 534, 535];
const ENCRYPTION_NEEDED = 538;
const WANTS_TLS = /\bstarttls\b|\btls\b|\bssl\b|\bencrypt/i;
const WANTS_AUTH =
  /\bauthentication (?:is )?(?:required|needed)|\bnot (?:been )?authenticated\b|\bmust authenticate\b|\bauth(?:enticate)? first\b/i;

/** X.7.28 "Mail flood detected"; X.3.4 "Message too big for system", X.2.3 "Message length exceeds limit" (IANA). */
const FLOOD = /^[45]\.7\.28$/;
const TOO_BIG = /^[45]\.(?:3\.4|2\.3)$/;
/** Gmail's reply when the daily limit is used up. */
const GMAIL_DAILY = '5.4.5';
/** Mail system status (RFC 3463 section 3.4): the fault is the server's, not the sender's. */
const SYSTEM_STATUS = /^[45]\.3\.\d+$/;

const TOO_LARGE_WORDS = [
  /\b(?:message|mail|content|size)\b.{0,60}\btoo (?:large|big|long)\b/i,
  /\btoo (?:large|big) (?:a )?(?:message|mail)\b/i,
  /\bsize\b.{0,40}\b(?:exceed|limit|maximum)|\bexceed\w*\b.{0,60}\b(?:message|maximum) size\b/i,
];
/** A 552 with these words is not about the size of the message. */
const OTHER_552 = /\b(?:mailbox|quota|storage|spam|virus|blocked|content|policy|security)\b/i;

/** The limit for a day or a month is used up. */
const DAILY_WORDS = [
  /\b(?:daily|monthly)\b.{0,80}\b(?:limit|quota|allowance)/i,
  /\b(?:limit|quota|allowance)s?\b.{0,60}\b(?:per|a|for the|for this) (?:day|month)\b/i,
  /\b24[- ]?(?:hours?|h)\b.{0,40}\b(?:limit|quota)/i,
  /\b(?:sending|send|submission|messag\w*|e-?mail|mail|smtp|relay) ?quota/i,
  /submissionquota/i,
  /\bmaximum credits exceeded\b/i,
  /\bmessaging limits?\b/i,
];

/** We send too fast. */
const RATE_WORDS = [
  /\brate\b|\bratelimit|\bthrottl/i,
  /\btoo (?:many|much) (?:messages|e-?mails?|mails?|requests|submissions|deliveries)\b/i,
  /\btoo many recipients from\b/i,
  /\bsending\b.{0,30}\btoo (?:fast|quickly|frequently)\b|\bslow down\b/i,
  /\bhourly\b.{0,60}\blimit|\bper (?:hour|minute|second)\b/i,
  /\b(?:sending|send|submission|messages?|e-?mail|mail|relay) limits?\b.{0,40}\b(?:exceed|reach|hit)/i,
  /\b(?:exceed|reach|hit)\w*\b.{0,60}\b(?:sending|send|submission|messages?|e-?mail|recipient) limit/i,
];
/** The limit is the recipient's (too much mail, mailbox full), not ours. */
const OF_THE_RECIPIENT = /\breceiving mail\b|\bmailbox\b/i;
const MAILBOX_FULL = /^[45]\.2\.2$/;
/** Too many recipients in one message, whatever the rate (RFC 3463 section 3.6). */
const TOO_MANY_RECIPIENTS = /^[45]\.5\.3$/;

/** Not about the session that is being set up, whatever was asked (RFC 5321 section 4.2.3). */
const TEMPORARY_CODES: readonly number[] = [421, 450, 451, 452];

/**
 * The error code that the agent gets for a 4yz or 5yz reply (`sendMessage`). Mostly it follows from the step. Limits
 * and sizes are recognised by enhanced status codes, or by words where providers do not use these codes.
 */
export function classifyReply(step: Step, reply: ServerReply): RelayErrorCode {
  const isOfMessage = isMessageStep(step);
  if (isOfMessage && isTooLarge(step, reply)) return 'E_MESSAGE_TOO_LARGE';
  const limit = limitOf(reply);
  if (limit !== null) return limit;
  if (isOfMessage && wantsTls(reply)) return 'E_RELAY_TLS_FAILED';
  if (isOfMessage && (AUTH_CODES.includes(reply.code) || WANTS_AUTH.test(reply.text))) {
    return 'E_RELAY_AUTH_FAILED';
  }
  // The same message may be taken later (RFC 5321 section 4.2.1).
  const isTemporary = isOfMessage ? reply.code < 500 : TEMPORARY_CODES.includes(reply.code);
  if (isTemporary && step !== 'DOT') return 'E_TEMPORARY_FAILURE';
  // The server ends the session, whatever was asked (RFC 5321 section 4.2.2).
  if (reply.code === 421) return 'E_RELAY_UNREACHABLE';
  switch (step) {
    case 'GREETING':
    case 'EHLO':
      return 'E_RELAY_UNREACHABLE';
    case 'STARTTLS':
      return 'E_RELAY_TLS_FAILED';
    case 'AUTH':
      return reply.code === ENCRYPTION_NEEDED ? 'E_RELAY_TLS_FAILED' : 'E_RELAY_AUTH_FAILED';
    case 'MAIL':
      return SYSTEM_STATUS.test(reply.enhanced ?? '') ? 'E_MESSAGE_REJECTED' : 'E_SENDER_REJECTED';
    case 'RCPT':
      return 'E_RECIPIENT_REJECTED';
    case 'DATA':
    case 'CONTENT':
    case 'DOT':
      return 'E_MESSAGE_REJECTED';
  }
}

function isMessageStep(step: Step): boolean {
  return step !== 'GREETING' && step !== 'EHLO' && step !== 'STARTTLS' && step !== 'AUTH';
}

/** 552 at MAIL or after the final dot (RFC 1870 section 6). At RCPT it means a full mailbox unless the words differ. */
function isTooLarge(step: Step, { code, enhanced, text }: ServerReply): boolean {
  if (TOO_BIG.test(enhanced ?? '')) return true;
  if (TOO_LARGE_WORDS.some(words => words.test(text))) return true;
  return code === 552 && enhanced === null && step !== 'RCPT' && !OTHER_552.test(text);
}

function limitOf(reply: ServerReply): RelayErrorCode | null {
  const { text } = reply;
  const enhanced = reply.enhanced ?? '';
  const isFull = MAILBOX_FULL.test(enhanced) && !/submission/i.test(text);
  if (isFull || OF_THE_RECIPIENT.test(text)) return null;
  if (enhanced === GMAIL_DAILY || DAILY_WORDS.some(words => words.test(text))) {
    return 'E_DAILY_LIMIT_EXCEEDED';
  }
  if (TOO_MANY_RECIPIENTS.test(enhanced)) return null;
  const isTooFast = FLOOD.test(enhanced) || RATE_WORDS.some(words => words.test(text));
  return isTooFast ? 'E_RATE_LIMIT_EXCEEDED' : null;
}

function wantsTls({ code, text }: ServerReply): boolean {
  return code === ENCRYPTION_NEEDED || (code === 530 && WANTS_TLS.test(text));
}
