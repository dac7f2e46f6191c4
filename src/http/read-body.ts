import type { IncomingMessage } from 'node:http';
import { fail, ok, type Result } from '../domain/errors.js';
import type { BodySpec } from './route.js';
import { parseStrictJson } from './strict-json.js';

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
  const bytes = await readAtMost(request, spec.limitBytes);
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

const FIRST_BYTES = 4096;

async function readAtMost(request: IncomingMessage, limit: number): Promise<Buffer | null> {
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

function validate(value: Record<string, unknown>, spec: BodySpec): Result<unknown> {
  const parsed = spec.schema.safeParse(value);
  if (parsed.success) return ok(parsed.data);
  const issue = parsed.error.issues[0];
  if (issue === undefined) return fail(spec.invalid, 'The body is not valid.');
  if (issue.code === 'unrecognized_keys') {
    return fail(spec.invalid, `Unknown field: ${issue.keys.join(', ')}.`);
  }
  const field = issue.path.join('.');
  const code = spec.fieldCodes?.[String(issue.path[0])] ?? spec.invalid;
  return fail(code, field === '' ? issue.message : `${field}: ${issue.message}.`);
}
