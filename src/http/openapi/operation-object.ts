import { PATH_PARAMETERS, QUERY_PARAMETERS } from '../../contract/parameters.js';
import type { BodySpec, DocumentedRoute } from '../server/route.js';
import type { ComponentBook } from './component-book.js';
import { errorCodesOf } from './error-codes.js';
import { responseObjects } from './response-objects.js';
import { exampleOf, type JsonObject, nameOf } from './schema-book.js';

/** A route as an Operation Object. Throws when the route does not say what the document needs. */
export function operationObject(route: DocumentedRoute, book: ComponentBook): JsonObject {
  const parameters = parameterObjects(route, book);
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route, route.body, book) }),
    responses: responseObjects(route, book),
    ...(route.auth === 'none' ? { security: [] } : {}),
    'x-error-codes': errorCodesOf(route),
  };
}

function parameterObjects(route: DocumentedRoute, book: ComponentBook): JsonObject[] {
  const inPath = [...route.path.matchAll(/\{([^}]+)\}/g)].flatMap(([, name]) => name ?? []);
  const inQuery = [...(route.query?.names ?? []), ...(route.query?.lists ?? [])];
  return [
    ...inPath.map(name => book.parameter(name, 'path', declared(PATH_PARAMETERS, name, route))),
    ...inQuery.map(name => book.parameter(name, 'query', declared(QUERY_PARAMETERS, name, route))),
  ];
}

function declared<Spec>(specs: Readonly<Record<string, Spec>>, name: string, route: DocumentedRoute): Spec {
  const spec = specs[name];
  if (spec !== undefined) return spec;
  throw new Error(`${route.operationId}: declare the parameter ${name} in src/contract/parameters.ts`);
}

function requestBody(route: DocumentedRoute, body: BodySpec, book: ComponentBook): JsonObject {
  const example = exampleOf(body.schema);
  if (nameOf(body.schema) === undefined || example === undefined) {
    throw new Error(`${route.operationId}: the schema of its body needs an id and an example in its meta`);
  }
  return {
    description: `A JSON object of at most ${body.limitBytes} bytes.`,
    required: true,
    content: { 'application/json': { schema: book.schema(body.schema), example } },
    'x-request-body-limit': body.limitBytes,
    'x-example-body': example,
  };
}
