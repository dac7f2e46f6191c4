import { isEmailAddress } from './email-address.js';
import { fail, ok, type Result } from './errors.js';
import { normaliseDomain } from './inbox-address.js';

/** Longest reason, in UTF-8 bytes after trimming. */
const MAX_REASON_BYTES = 512;

const CONTROL = /\p{Cc}/u;

/**
 * An address as the suppression list knows it: lower case as a whole, A-labels. Almost every host ignores the
 * letter case of local parts, so another spelling would reach whoever must not be reached. Null when it is no
 * address that mail could be sent to.
 */
export function toSuppressedAddress(text: string): string | null {
  const lower = text.trim().toLowerCase();
  const at = lower.lastIndexOf('@');
  const domain = normaliseDomain(lower.slice(at + 1));
  const address = `${lower.slice(0, at + 1)}${domain ?? ''}`;
  return isEmailAddress(address) ? address : null;
}

/** Why an address is suppressed, for the admin: trimmed; blank and absent mean no reason. */
export function normaliseReason(text: string | undefined): Result<string | null> {
  const reason = text?.trim() ?? '';
  if (reason === '') return ok(null);
  if (CONTROL.test(reason) || !reason.isWellFormed()) {
    return fail(
      'invalid_request',
      'A reason must be well-formed Unicode in one line, without control characters.',
    );
  }
  if (Buffer.byteLength(reason) > MAX_REASON_BYTES) {
    return fail('invalid_request', `A reason may have at most ${MAX_REASON_BYTES} bytes of UTF-8.`);
  }
  return ok(reason);
}
