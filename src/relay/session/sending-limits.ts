import type { ServerReply } from './reply.js';

/** X.7.28 "Mail flood detected" (IANA). */
const FLOOD = /^[45]\.7\.28$/;
/** Gmail's reply when the daily limit is used up. */
const GMAIL_DAILY = '5.4.5';

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

/**
 * Does a 4yz or 5yz reply say that we send too much? Limits are recognised by enhanced status codes, or by words where
 * providers do not use these codes. `daily`: the limit of a day or a month; `rate`: of a shorter time.
 */
export function sendingLimitOf(reply: ServerReply): 'daily' | 'rate' | null {
  const { text } = reply;
  const enhanced = reply.enhanced ?? '';
  const isFull = MAILBOX_FULL.test(enhanced) && !/submission/i.test(text);
  if (isFull || OF_THE_RECIPIENT.test(text)) return null;
  if (enhanced === GMAIL_DAILY || DAILY_WORDS.some(words => words.test(text))) return 'daily';
  if (TOO_MANY_RECIPIENTS.test(enhanced)) return null;
  return FLOOD.test(enhanced) || RATE_WORDS.some(words => words.test(text)) ? 'rate' : null;
}
