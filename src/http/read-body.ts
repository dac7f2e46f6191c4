import type { IncomingMessage } from 'node:http';
import { type ErrorCode, fail, ok, type Result } from '../domain/errors.js';
import type { BodySpec } from './route.js';
import { parseStrictJson } from './strict-json.js';
import { Turns } from './turns.js';

const JSON_TYPE = /^application\/json(?:\s*;\s*(.*))?$/i;

/** Is this `application/json`, and in UTF-8 if it names a charset? */
export function isJsonContentType(header: string | undefined): boolean {
  const match = JSON_TYPE.exec(header?.trim() ?? '');
  if (match === null) return false;
  const charset = /(?:^|;)\s*charset\s*=\s*"?([^";\s]+)"?/i.exec(match[1] ?? '')?.[1];
  return charset === undefined || charset.toLowerCase() === 'utf-8' || charset.toLowerCase() === 'utf8';
}

/**
 * Reads and validates a JSON body in the order of the decisions: content type, size (a declared length
 * over the limit is not read at all, an actual one no further), JSON, fields.
 * @param onRead called before the first byte is asked for (`100 Continue`)
 */
export async function readBody(
  request: IncomingMessage,
  spec: BodySpec,
  onRead: () => void,
): Promise<Result<unknown>> {
  if (!isJsonContentType(request.headers['content-type'])) {
    return fail('unsupported_media_type', 'Send the body as application/json in UTF-8.');
  }
  const tooLarge = fail(
    'body_too_large',
    `The body of this request may have at most ${spec.limitBytes} bytes.`,
  );
  const declared = request.headers['content-length'];
  if (declared !== undefined && Number(declared) > spec.limitBytes) return tooLarge;
  onRead();
  const size = declared === undefined ? spec.limitBytes : Number(declared);
  const bytes = await (size > LARGE_BYTES ? readInTurn : readAtMost)(request, spec.limitBytes);
  if (bytes === null) return tooLarge;
  const value = parseStrictJson(bytes);
  if (value === null) {
    return fail(
      'invalid_json',
      'The body must be one JSON object in UTF-8, without repeated keys, at most 64 levels deep.',
    );
  }
  return validate(value, spec);
}

/** Bodies of more bytes than this are read so many at a time, so that all of them together fit the memory. */
const LARGE_BYTES = 256 * 1024;
const LARGE_AT_ONCE = 8;
const largeBodies = new Turns(LARGE_AT_ONCE);

async function readInTurn(request: IncomingMessage, limit: number): Promise<Buffer | null> {
  await largeBodies.take();
  try {
    // It has waited, and may have waited for longer than its client.
    if (request.destroyed) throw new Error('the client went away while its request waited to be read');
    return await readAtMost(request, limit);
  } finally {
    largeBodies.done();
  }
}

const FIRST_BYTES = 4096;

/** The body, or null when it has more bytes than that: then the rest is left unread. */
export async function readAtMost(request: IncomingMessage, limit: number): Promise<Buffer | null> {
  // One buffer that grows: a body in chunks of one byte would cost a hundred times its size as a list.
  let bytes: Buffer = Buffer.allocUnsafe(Math.min(limit, FIRST_BYTES));
  let size = 0;
  // Not `for await`: leaving that loop early would destroy the socket before the answer is written.
  return new Promise((resolve, reject) => {
    const settle = (result: Buffer | null): void => {
      request.off('data', onData).off('end', onEnd).off('error', reject).off('close', onClose);
      if (result === null) request.pause();
      resolve(result);
    };
    const onData = (chunk: Buffer): void => {
      if (size + chunk.length > limit) {
        settle(null);
        return;
      }
      if (size + chunk.length > bytes.length) bytes = grown(bytes, size + chunk.length, limit);
      bytes.set(chunk, size);
      size += chunk.length;
    };
    const onEnd = (): void => settle(bytes.subarray(0, size));
    const onClose = (): void => reject(new Error('the client went away while its request was read'));
    request.on('data', onData).on('end', onEnd).on('error', reject).on('close', onClose);
  });
}

function grown(bytes: Buffer, needed: number, limit: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.min(limit, Math.max(needed, 2 * bytes.length)));
  larger.set(bytes);
  return larger;
}

/**
 * More than any list of the API may have. A list is looked at as a whole before its limit is, and each bad entry
 * of it makes a complaint: eight megabytes of them would take all memory.
 */
const MAX_ENTRIES = 1_000;

function validate(value: Record<string, unknown>, spec: BodySpec): Result<unknown> {
  for (const [field, list] of Object.entries(value)) {
    if (!Array.isArray(list) || list.length <= MAX_ENTRIES) continue;
    return fail(codeOf(field, spec), `${shown([field])} has ${list.length} entries, far too many.`);
  }
  const parsed = spec.schema.safeParse(value);
  if (parsed.success) return ok(parsed.data);
  const issue = parsed.error.issues[0];
  if (issue === undefined) return fail(spec.invalid, 'The body is not valid.');
  if (issue.code === 'unrecognized_keys') {
    return fail(spec.invalid, `Unknown field: ${shown(issue.keys)}.`);
  }
  const field = issue.path.join('.');
  return fail(
    codeOf(String(issue.path[0]), spec),
    field === '' ? issue.message : `${field}: ${issue.message}.`,
  );
}

function codeOf(field: string, spec: BodySpec): ErrorCode {
  return spec.fieldCodes?.[field] ?? spec.invalid;
}

/** Names of fields as somebody wrote them: the first few, and not all of each. */
function shown(names: readonly string[]): string {
  const some = names.slice(0, 5).map(name => (name.length > 64 ? `${name.slice(0, 64)}...` : name));
  return names.length > some.length ? `${some.join(', ')} and more` : some.join(', ');
}
