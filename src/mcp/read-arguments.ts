import type { ErrorCode } from '../contract/errors.js';
import { codeOfParameter, type Operation, type QuerySpec } from '../contract/operation.js';
import type { ToolSpec } from '../contract/tools/tool.js';
import { refuse } from '../domain/errors.js';
import { isBase64 } from '../domain/message-parts.js';
import { inTurns } from '../lib/slices.js';
import type { OperationCall } from '../usecases/shared/operation-call.js';
import type { IncomingBytes } from '../usecases/uploads/file-uploads.js';
import { isObject, type JsonObject } from './values.js';

/** Refuses arguments that the tool does not take: a misspelt condition must not widen a result. */
export function refuseUnknown({ input, operation }: ToolSpec, args: JsonObject): void {
  const known = Object.keys(input.shape);
  const unknown = Object.keys(args).find(name => !known.includes(name));
  if (unknown === undefined) return;
  const code: ErrorCode = operation?.body?.invalid ?? operation?.query?.invalid ?? 'invalid_request';
  throw refuse(
    code,
    `Unknown argument ${JSON.stringify(shortened(unknown))}; known: ${known.join(', ') || 'none'}.`,
  );
}

/** Arguments as the request of an operation would say them: by their names they go to path, query and body. */
export function requestOf(
  operation: Operation,
  args: JsonObject,
): Pick<OperationCall, 'params' | 'query' | 'body' | 'bytes'> {
  const segments = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const asked = [...(operation.query?.names ?? []), ...(operation.query?.lists ?? [])];
  const params = Object.fromEntries(segments.map(name => [name, readId(args, name)]));
  const query = asked.flatMap(name => queryOf(operation.query, name, args[name]));
  const rest = Object.entries(args).filter(([name]) => !segments.includes(name) && !asked.includes(name));
  const bytes = operation.bytes === undefined ? null : readBytes(args, 'content');
  return { params, query, body: Object.fromEntries(rest), bytes };
}

/** An argument that names something by its id. */
export function readId(args: JsonObject, name: string): string {
  const value = args[name];
  if (typeof value === 'string') return value;
  throw refuse('invalid_request', `${name} is needed: a string, an id that another tool has given.`);
}

function queryOf(spec: QuerySpec | undefined, name: string, value: unknown): [string, string][] {
  if (spec === undefined || value === undefined || value === null) return [];
  const isList = spec.lists?.includes(name) === true;
  const values: readonly unknown[] = isList && Array.isArray(value) ? value : [value];
  return values.map(one => {
    if (typeof one === 'string') return [name, one];
    if (typeof one === 'number' && !isList) return [name, String(one)];
    const wanted = isList ? 'an array of strings' : 'one string or number';
    throw refuse(codeOfParameter(spec, name), `${name} must be ${wanted}.`);
  });
}

/** A whole number that may be left out. */
export function readInteger(
  args: JsonObject,
  name: string,
  { least, most, absent }: { readonly least: number; readonly most: number; readonly absent: number },
): number {
  const value = args[name] ?? absent;
  if (Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most) return Number(value);
  throw refuse('invalid_request', `${name} must be a whole number from ${least} to ${most}.`);
}

/** Base64 that is decoded at a time: whole groups of four. */
const PIECE_LENGTH = 64 * 1024;

/** Bytes in base64, decoded as they are read. */
function readBytes(args: JsonObject, name: string): IncomingBytes {
  const text = args[name];
  if (typeof text !== 'string' || !isBase64(text)) {
    throw refuse('invalid_request', `${name} is needed: the bytes in padded base64 without white space.`);
  }
  return {
    declaredBytes: Buffer.byteLength(text, 'base64'),
    read: async sink => {
      for await (const piece of inTurns(decoded(text))) {
        if (!sink.write(piece)) await sink.drained();
      }
    },
  };
}

async function* decoded(text: string): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < text.length; at += PIECE_LENGTH) {
    yield Buffer.from(text.slice(at, at + PIECE_LENGTH), 'base64');
  }
}

/** Arguments of a list as its operation takes them. */
export function withInclude({ include_preview, ...args }: JsonObject): JsonObject {
  return readFlag({ include_preview }, 'include_preview') ? { ...args, include: 'preview' } : args;
}

/** Whether all of a message is asked for. */
export function readFormat(args: JsonObject): boolean {
  const { format = 'default' } = args;
  if (format === 'full') return true;
  if (format === 'default' || format === null) return false;
  throw refuse('invalid_request', 'format must be default or full.');
}

export function readFlag(args: JsonObject, name: string): boolean {
  const value = args[name] ?? false;
  if (typeof value === 'boolean') return value;
  throw refuse('invalid_request', `${name} must be true or false.`);
}

/** Arguments of a call; absent ones are none. */
export function argumentsOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function shortened(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}...` : name;
}
