import type { IncomingMessage } from 'node:http';
import { fail, ok, type Result } from '../../domain/errors.js';
import { readAtMost } from '../server/read-body.js';

/** Our forms have a few short fields. */
const LIMIT_BYTES = 4096;

const FORM_TYPE = /^application\/x-www-form-urlencoded(?:\s*;\s*charset\s*=\s*"?utf-8"?)?\s*$/i;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The fields of a form (URL standard, application/x-www-form-urlencoded), each at most once and none that the page
 * does not have.
 * @param onRead called before the first byte is asked for (`100 Continue`)
 */
export async function readForm(
  request: IncomingMessage,
  fields: readonly string[],
  onRead: () => void,
): Promise<Result<ReadonlyMap<string, string>>> {
  if (!FORM_TYPE.test(request.headers['content-type']?.trim() ?? '')) {
    return fail('unsupported_media_type', 'This address takes the form of its page and nothing else.');
  }
  const tooLarge = fail('body_too_large', 'The form has more in it than its page has fields for.');
  const declared = request.headers['content-length'];
  if (declared !== undefined && Number(declared) > LIMIT_BYTES) return tooLarge;
  onRead();
  const bytes = await readAtMost(request, LIMIT_BYTES);
  if (bytes === null) return tooLarge;
  return parseForm(bytes, fields);
}

function parseForm(bytes: Uint8Array, fields: readonly string[]): Result<ReadonlyMap<string, string>> {
  const malformed = fail('invalid_request', 'The form did not arrive as its page sends it.');
  const values = new Map<string, string>();
  try {
    for (const pair of utf8.decode(bytes).split('&')) {
      if (pair === '') continue;
      const [name = '', value = ''] = splitAt(pair, '=').map(decode);
      if (!fields.includes(name) || values.has(name)) return malformed;
      values.set(name, value);
    }
  } catch {
    return malformed;
  }
  return ok(values);
}

function splitAt(text: string, mark: string): string[] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** Throws for what is no UTF-8, where `URLSearchParams` would put marks in its place. */
function decode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}
