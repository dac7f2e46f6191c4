import type { IncomingMessage } from 'node:http';
import { SMALL_BODY_BYTES } from '../../contract/limits.js';
import { type Refusal, refuse } from '../../domain/errors.js';
import { readAtMost } from '../server/read-body.js';

const FORM_TYPE = /^application\/x-www-form-urlencoded(?:\s*;\s*charset\s*=\s*"?utf-8"?)?\s*$/i;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the fields of a form (URL standard, application/x-www-form-urlencoded). Repeated fields and fields that the
 * page does not declare are refused.
 * @param onRead called before the first byte is read (to send `100 Continue`)
 */
export async function readForm(
  request: IncomingMessage,
  fields: readonly string[],
  onRead: () => void,
): Promise<ReadonlyMap<string, string>> {
  if (!FORM_TYPE.test(request.headers['content-type']?.trim() ?? '')) {
    throw refuse('unsupported_media_type', 'This address takes the form of its page and nothing else.');
  }
  const tooLarge = () => refuse('body_too_large', 'The form has more in it than its page has fields for.');
  const declared = request.headers['content-length'];
  if (declared !== undefined && Number(declared) > SMALL_BODY_BYTES) throw tooLarge();
  onRead();
  const bytes = await readAtMost(request, SMALL_BODY_BYTES);
  if (bytes === null) throw tooLarge();
  return parseForm(bytes, fields);
}

function parseForm(bytes: Uint8Array, fields: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const pair of decodedBy(() => utf8.decode(bytes)).split('&')) {
    if (pair === '') continue;
    const [name = '', value = ''] = splitAt(pair, '=').map(decode);
    if (!fields.includes(name) || values.has(name)) throw malformed();
    values.set(name, value);
  }
  return values;
}

function splitAt(text: string, mark: string): string[] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** Decodes one name or value. Refuses invalid UTF-8, where `URLSearchParams` would insert replacement characters. */
function decode(text: string): string {
  return decodedBy(() => decodeURIComponent(text.replaceAll('+', ' ')));
}

function decodedBy(decoder: () => string): string {
  try {
    return decoder();
  } catch {
    throw malformed();
  }
}

function malformed(): Refusal {
  return refuse('invalid_request', 'The form did not arrive as its page sends it.');
}
