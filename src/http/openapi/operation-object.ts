import { type BodySpec, type BytesSpec, errorCodesOf, type Operation } from '../../contract/operation.js';
import { PATH_PARAMETERS, type ParameterSpec, queryParameter } from '../../contract/parameters.js';
import { exampleOf, type JsonObject, nameOf } from '../../contract/schema-book.js';
import type { ComponentBook } from './component-book.js';
import { BYTES, responseObjects } from './response-objects.js';

/** The OpenAPI Operation Object of an operation. Throws when it lacks something that the document needs. */
export function operationObject(operation: Operation, book: ComponentBook): JsonObject {
  return {
    operationId: operation.operationId,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    parameters: parameterObjects(operation, book),
    ...(operation.body === undefined ? {} : { requestBody: requestBody(operation, operation.body, book) }),
    ...(operation.bytes === undefined ? {} : { requestBody: requestBytes(operation.bytes) }),
    responses: responseObjects(operation, book),
    ...(operation.auth === 'none' ? { security: [] } : {}),
    ...(operation.isExtension === true ? { 'x-extension': true } : {}),
    'x-error-codes': errorCodesOf(operation),
  };
}

function parameterObjects(operation: Operation, book: ComponentBook): JsonObject[] {
  const inPath = [...operation.path.matchAll(/\{([^}]+)\}/g)].flatMap(([, name]) => name ?? []);
  const inQuery = [...(operation.query?.names ?? []), ...(operation.query?.lists ?? [])];
  return [
    ...inPath.map(name => book.parameter(name, 'path', declared(PATH_PARAMETERS[name], name, operation))),
    ...inQuery.map(name =>
      book.parameter(name, 'query', declared(queryParameter(name, operation.query), name, operation)),
    ),
  ];
}

function declared(spec: ParameterSpec | undefined, name: string, operation: Operation): ParameterSpec {
  if (spec !== undefined) return spec;
  throw new Error(`${operation.operationId}: declare the parameter ${name} in src/contract/parameters.ts`);
}

function requestBody(operation: Operation, body: BodySpec, book: ComponentBook): JsonObject {
  const example = exampleOf(body.schema);
  if (nameOf(body.schema) === undefined || example === undefined) {
    throw new Error(
      `${operation.operationId}: the schema of its body needs an id and an example in its meta`,
    );
  }
  return {
    description: `A JSON object of at most ${body.limitBytes} bytes.`,
    required: true,
    content: { 'application/json': { schema: book.schema(body.schema), example } },
    'x-request-body-limit': body.limitBytes,
    'x-example-body': example,
  };
}

function requestBytes({ limitBytes }: BytesSpec): JsonObject {
  return {
    description: `Bytes of any kind, at most ${limitBytes}, and none of a form around them.`,
    required: true,
    content: { 'application/octet-stream': { schema: BYTES } },
    'x-request-body-limit': limitBytes,
  };
}
