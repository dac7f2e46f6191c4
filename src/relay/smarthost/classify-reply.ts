import type { RelayErrorCode } from '../../usecases/ports.js';
import type { ServerReply, Step } from '../session/reply.js';
import { sendingLimitOf } from '../session/sending-limits.js';

/** The smarthost requires authentication (RFC 4954 section 6) or encryption (RFC 3207 section 4) first. */
const AUTH_CODES: readonly number[] = [530, 534, 535];
const ENCRYPTION_NEEDED = 538;
const WANTS_TLS = /\bstarttls\b|\btls\b|\bssl\b|\bencrypt/i;
const WANTS_AUTH =
  /\bauthentication (?:is )?(?:required|needed)|\bnot (?:been )?authenticated\b|\bmust authenticate\b|\bauth(?:enticate)? first\b/i;

/** X.3.4 "Message too big for system", X.2.3 "Message length exceeds limit" (IANA). */
const TOO_BIG = /^[45]\.(?:3\.4|2\.3)$/;
/** Mail system status (RFC 3463 section 3.4): the fault is the server's, not the sender's. */
const SYSTEM_STATUS = /^[45]\.3\.\d+$/;

const TOO_LARGE_WORDS = [
  /\b(?:message|mail|content|size)\b.{0,60}\btoo (?:large|big|long)\b/i,
  /\btoo (?:large|big) (?:a )?(?:message|mail)\b/i,
  /\bsize\b.{0,40}\b(?:exceed|limit|maximum)|\bexceed\w*\b.{0,60}\b(?:message|maximum) size\b/i,
];
/** A 552 with these words is not about the size of the message. */
const OTHER_552 = /\b(?:mailbox|quota|storage|spam|virus|blocked|content|policy|security)\b/i;

/** Not about the session that is being set up, whatever was asked (RFC 5321 section 4.2.3). */
const TEMPORARY_CODES: readonly number[] = [421, 450, 451, 452];

/**
 * The error code that the agent gets for a 4yz or 5yz reply (`sendMessage`). Mostly it follows from the step. Limits
 * and sizes are recognised by enhanced status codes, or by words where providers do not use these codes.
 */
export function classifyReply(step: Step, reply: ServerReply): RelayErrorCode {
  const isOfMessage = isMessageStep(step);
  if (isOfMessage && isTooLarge(step, reply)) return 'E_MESSAGE_TOO_LARGE';
  const limit = sendingLimitOf(reply);
  if (limit !== null) return limit === 'daily' ? 'E_DAILY_LIMIT_EXCEEDED' : 'E_RATE_LIMIT_EXCEEDED';
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

function wantsTls({ code, text }: ServerReply): boolean {
  return code === ENCRYPTION_NEEDED || (code === 530 && WANTS_TLS.test(text));
}
