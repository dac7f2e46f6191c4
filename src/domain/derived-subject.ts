import { cleanText } from './clean-text.js';
import { utf8Prefix } from './utf8-prefix.js';

/** UTF-8 bytes of a subject (specification, Limits). */
const MAX_SUBJECT_BYTES = 998;
/** A subject has to be there and not to be blank (specification, SendInput). */
const NO_SUBJECT = '(no subject)';

/** Of an answer: `Re: ` before it, unless it begins with that already (wire contract 3.13). */
export function replySubject(subject: string | null): string {
  return derived(subject, /^re\s*:/i, 'Re: ');
}

/** Of a forward: `Fwd: ` before it, unless it begins with `Fw:` or `Fwd:` (specification, ForwardInput rule 3). */
export function forwardSubject(subject: string | null): string {
  return derived(subject, /^fwd?:/i, 'Fwd: ');
}

/** Passes the checks of a subject whatever `subject` is: no controls, at most 998 bytes, shortened at its end. */
function derived(subject: string | null, isPrefixed: RegExp, prefix: string): string {
  const clean = cleanText(subject ?? '').toWellFormed() || NO_SUBJECT;
  return utf8Prefix(isPrefixed.test(clean) ? clean : prefix + clean, MAX_SUBJECT_BYTES).trimEnd();
}
