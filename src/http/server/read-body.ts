import type { IncomingMessage } from 'node:http';
import { readNulls } from '../../contract/nulls.js';
import { type BodySpec, codeOfField } from '../../contract/operation.js';
import { refuse } from '../../domain/errors.js';
import { inSlices, pauseIfLong } from '../../lib/slices.js';
import { type Hand, SMALL_BYTES } from '../../usecases/shared/in-hand.js';
import { atLeastRate, declaredBytes, stillThere, tooLarge } from './body-bounds.js';
import { MAX_DEPTH, MAX_MEMBERS, parseStrictJson } from './strict-json.js';

const JSON_TYPE = /^application\/json(?:\s*;\s*(.*))?$/i;

/** Whether this is `application/json`, with charset UTF-8 or none. */
export function isJsonContentType(header: string | undefined): boolean {
  const match = JSON_TYPE.exec(header?.trim() ?? '');
  if (match === null) return false;
  const charset = /(?:^|;)\s*charset\s*=\s*"?([^";\s]+)"?/i.exec(match[1] ?? '')?.[1];
  return charset === undefined || charset.toLowerCase() === 'utf-8' || charset.toLowerCase() === 'utf8';
}

/**
 * Reads and validates a JSON body in this order: content type, size, JSON, fields. A body whose declared length is
 * over the limit is not read at all; one without a declared length is read up to the limit. A large one waits for its
 * turn before it is read, and again before it is parsed.
 * @param hand what the request has in memory
 * @param onRead called before the first byte is read (to send `100 Continue`)
 */
export async function readBody(
  request: IncomingMessage,
  spec: BodySpec,
  hand: Hand,
  onRead: () => void,
): Promise<unknown> {
  if (!isJsonContentType(request.headers['content-type'])) {
    throw refuse('unsupported_media_type', 'Send the body as application/json in UTF-8.');
  }
  const declared = declaredBytes(request, spec.limitBytes);
  const size = declared ?? spec.limitBytes;
  let bytes: Buffer | null;
  if (size < SMALL_BYTES) {
    onRead();
    bytes = await readAtMost(request, spec.limitBytes);
  } else {
    await hand.takeBody(size);
    stillThere(request);
    onRead();
    bytes = await atLeastRate(request, readAtMost(request, spec.limitBytes, declared ?? FIRST_BYTES));
    if (bytes !== null) await hand.takeWork(bytes.length);
    stillThere(request);
  }
  if (bytes === null) throw tooLarge(spec.limitBytes);
  // What is made of a large body is made in turns of the loop that do nothing else.
  await pauseIfLong(bytes.length);
  const value = await inSlices(parseStrictJson(bytes));
  if (value === null) {
    throw refuse(
      'invalid_json',
      `The body must be one JSON object in UTF-8, without repeated keys, at most ${MAX_DEPTH} levels deep and with at most ${MAX_MEMBERS} members.`,
    );
  }
  await pauseIfLong(bytes.length);
  const valid = validateBody(value, spec);
  await pauseIfLong(bytes.length);
  return valid;
}

const FIRST_BYTES = 4096;

/**
 * The body, or null when it has more than `limit` bytes; the rest is then left unread.
 * @param expected bytes to make room for at once: memory that nothing is written to costs nothing
 */
export async function readAtMost(
  request: IncomingMessage,
  limit: number,
  expected = FIRST_BYTES,
): Promise<Buffer | null> {
  // One growing buffer, not a list of chunks: chunks of one byte would cost a hundred times the size of the body.
  let bytes: Buffer = Buffer.allocUnsafe(Math.min(limit, expected));
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
 * More than any array of the API may have. Validation checks every entry of an array before its length, and each bad
 * entry makes an error object.
 */
const MAX_ENTRIES = 1_000;

/** A body by its type, with what null stands for in its place. @throws the code of the first field that is wrong */
export function validateBody(value: Readonly<Record<string, unknown>>, spec: BodySpec): unknown {
  for (const [field, list] of Object.entries(value)) {
    if (!Array.isArray(list) || list.length <= MAX_ENTRIES) continue;
    throw refuse(codeOfField(spec, field), `${shown([field])} has ${list.length} entries, far too many.`);
  }
  const parsed = spec.schema.safeParse(readNulls(spec.schema, value));
  if (parsed.success) return parsed.data;
  const issue = plainest(parsed.error.issues);
  if (issue === undefined) throw refuse(spec.invalid, 'The body is not valid.');
  if (issue.keys !== undefined) throw refuse(spec.invalid, `Unknown field: ${shown(issue.keys)}.`);
  const field = issue.path.join('.');
  throw refuse(
    codeOfField(spec, String(issue.path[0])),
    field === '' ? issue.message : `${field}: ${issue.message}.`,
  );
}

interface Issue {
  readonly code?: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** The names of unknown fields. */
  readonly keys?: readonly string[];
  /** Of a value that may have one of several types: what each of them has against it. */
  readonly errors?: readonly (readonly Issue[])[];
}

/** The first issue; of a value that may have one of several types, what the type that it is nearest to has against it. */
function plainest([issue]: readonly Issue[]): Issue | undefined {
  if (issue?.code !== 'invalid_union' || issue.errors === undefined) return issue;
  const [nearest] = [...issue.errors].sort((a, b) => a.length - b.length);
  const inner = plainest(nearest ?? []);
  return inner === undefined ? issue : { ...inner, path: [...issue.path, ...inner.path] };
}

/** Field names for an error message: only the first few, long ones cut. */
function shown(names: readonly string[]): string {
  const some = names.slice(0, 5).map(name => (name.length > 64 ? `${name.slice(0, 64)}...` : name));
  return names.length > some.length ? `${some.join(', ')} and more` : some.join(', ');
}
