import { ERROR_SHAPES, ErrorBody } from '../../contract/error-bodies.js';
import { ERRORS, type ErrorCode } from '../../contract/errors.js';
import {
  COMMON_HEADERS,
  DOWNLOAD_HEADERS,
  errorCodesOf,
  type Operation,
  type ResponseHeader,
  type ResponseSpec,
} from '../../contract/operation.js';
import { exampleOf, type JsonObject, type Schema } from '../../contract/schema-book.js';
import type { ComponentBook } from './component-book.js';

/** Bytes need no schema in OpenAPI 3.1, but generators of clients pass over what has none. */
export const BYTES: JsonObject = { type: 'string', format: 'binary' };

/** The responses of an operation: its successful answers, then its errors, one response for each status. */
export function responseObjects(operation: Operation, book: ComponentBook): JsonObject {
  const responses: Record<string, JsonObject> = {};
  for (const [status, spec] of Object.entries(operation.responses)) responses[status] = success(spec, book);
  for (const [status, codes] of byStatus(errorCodesOf(operation))) {
    if (status in responses) throw new Error(`${operation.operationId}: ${status} is an answer and an error`);
    responses[status] = errors(status, codes, book);
  }
  return responses;
}

function byStatus(codes: readonly ErrorCode[]): ReadonlyMap<number, readonly ErrorCode[]> {
  const groups = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = ERRORS[code];
    groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  return groups;
}

function success(spec: ResponseSpec, book: ComponentBook): JsonObject {
  if ('bytes' in spec) {
    return {
      description: spec.description,
      headers: headers(DOWNLOAD_HEADERS, book),
      content: { [spec.bytes]: { schema: BYTES } },
    };
  }
  return {
    description: spec.description,
    headers: headers(spec.headers ?? [], book),
    content: asJson({ schema: book.schema(spec.schema), example: exampleOf(spec.schema) }),
  };
}

/** The response of an error status. With a single code it becomes a shared component. */
function errors(status: number, codes: readonly ErrorCode[], book: ComponentBook): JsonObject {
  const [only] = codes;
  return only !== undefined && codes.length === 1
    ? book.response(only, () => errorResponse(status, codes, book))
    : errorResponse(status, codes, book);
}

function errorResponse(status: number, codes: readonly ErrorCode[], book: ComponentBook): JsonObject {
  const schemas = errorSchemas(codes).map(schema => book.schema(schema));
  return {
    description: codes.map(code => `\`${code}\`: ${ERRORS[code].meaning}`).join('\n\n'),
    headers: headers(errorHeaders(status), book),
    content: asJson({
      schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas },
      examples: Object.fromEntries(codes.map(code => [code, { value: errorExample(code) }])),
    }),
  };
}

/** The schemas of these errors. The plain one is left out where another shape accepts plain errors (`fitsPlain`). */
function errorSchemas(codes: readonly ErrorCode[]): readonly Schema[] {
  const shapes = codes.map(code => ERROR_SHAPES[code]);
  const hasPlain = shapes.includes(undefined) && !shapes.some(shape => shape?.fitsPlain === true);
  const special = new Set(shapes.flatMap(shape => shape?.schema ?? []));
  return hasPlain ? [ErrorBody, ...special] : [...special];
}

function errorHeaders(status: number): readonly ResponseHeader[] {
  if (status === 401) return ['WWW-Authenticate'];
  return status === 429 || status === 503 ? ['Retry-After'] : [];
}

function errorExample(code: ErrorCode): JsonObject {
  const shape = ERROR_SHAPES[code];
  return { error: { code, message: ERRORS[code].meaning, ...shape?.error }, ...shape?.beside };
}

function headers(names: readonly ResponseHeader[], book: ComponentBook): JsonObject {
  return Object.fromEntries([...COMMON_HEADERS, ...names].map(name => [name, book.header(name)]));
}

function asJson(mediaType: JsonObject): JsonObject {
  return { 'application/json': mediaType };
}
