import t from 'tap';
import { ERRORS, type ErrorCode } from '../../../src/contract/errors.js';
import { openApiDocument } from '../../../src/http/openapi/openapi-document.js';
import { startBox } from '../../support/box/postern-box.js';
import type { Json } from '../../support/contract/contract-schemas.js';
import { notationOf } from '../../support/contract/schema-notation.js';
import { readDocument } from '../../support/contract/served-contract.js';
import { houseRoutes, SERVICE } from '../../unit/http/with-server.js';
import { withHouse } from '../../unit/usecases/with-house.js';
import { codesOf, LATER, PAGES, ROWS, type Row, words } from './operations.js';

const env = { POSTERN_SERVICE_NAME: SERVICE.name, POSTERN_SERVICE_PUBLIC_URL: SERVICE.publicUrl };
const box = await startBox(t, { env });
const document = await readDocument(box.httpPort);
const routes = houseRoutes(await withHouse(t));

/** Follows a reference. */
function follow(value: Json): Json {
  if (typeof value.$ref !== 'string') return value;
  return value.$ref
    .split('/')
    .slice(1)
    .reduce((at, key) => at[key] as Json, document);
}

const operations = Object.entries(document.paths as Record<string, Record<string, Json>>).flatMap(
  ([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      operation,
    })),
);

const responsesOf = (operation: Json) =>
  Object.entries(operation.responses as Record<string, Json>).map(([status, response]) => ({
    status: Number(status),
    response: follow(response),
  }));

const isError = (response: Json) =>
  Object.values((response.content ?? {}) as Record<string, Json>).some(media => 'examples' in media);

/** What an answer or a body holds, as the tables write it. */
function holds(response: Json): string {
  const [[mediaType = '', media = {}] = []] = Object.entries(
    (response.content ?? {}) as Record<string, Json>,
  );
  return mediaType === 'application/json' ? notationOf(media.schema as Json) : mediaType;
}

/** An operation of the document as a row of the tables. */
function rowOf(operation: Json) {
  const parameters = ((operation.parameters ?? []) as Json[]).map(follow);
  const named = (place: string) => parameters.filter(one => one.in === place).map(one => one.name as string);
  const body = operation.requestBody as Json | undefined;
  const answers = responsesOf(operation).filter(({ response }) => !isError(response));
  return {
    operationId: operation.operationId,
    tags: operation.tags,
    path: named('path'),
    query: named('query').sort(),
    body: body === undefined ? '' : `${holds(body)} ${body['x-request-body-limit']}`,
    isRequired: body?.required,
    success: Object.fromEntries(answers.map(({ status, response }) => [status, holds(response)])),
    location: answers.map(({ response }) => 'Location' in (response.headers as Json)),
    isOpen: operation.security !== undefined,
    errors: [...(operation['x-error-codes'] as string[])].sort(),
  };
}

function expected(row: Row): ReturnType<typeof rowOf> {
  return {
    operationId: row.operationId,
    tags: [row.tag],
    path: [...row.route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string),
    query: words(row.query ?? '').sort(),
    body: row.body ?? '',
    isRequired: row.body === undefined ? undefined : true,
    success: { ...row.success },
    location: Object.keys(row.success).map(() => row.hasLocation === true),
    isOpen: !codesOf(row).includes('unauthorized'),
    errors: codesOf(row),
  };
}

const served = ROWS.filter(row => !LATER.includes(row.operationId));

t.test('operation, parameters, body, answers and errors are those of the tables', async t => {
  for (const row of served) {
    const found = operations.find(({ route }) => route === row.route);
    if (found === undefined) t.fail(`${row.route} is not served`);
    else t.strictSame(rowOf(found.operation), expected(row), row.operationId);
  }
});

t.test('nothing is served without a row, and a row that is served is not put off', async t => {
  const known = new Set(served.map(row => row.route));
  t.strictSame(
    operations.map(({ route }) => route).filter(route => !known.has(route)),
    [],
  );
  const names = new Set(ROWS.map(row => row.operationId));
  t.strictSame(
    LATER.filter(name => !names.has(name)),
    [],
    'what is put off has a row',
  );
});

t.test('a response documents its errors: shape, headers, and the codes of its status', async t => {
  for (const { route, operation } of operations) {
    const codes: string[] = [];
    for (const { status, response } of responsesOf(operation)) {
      const headers = Object.keys(response.headers as Json);
      t.ok(headers.includes('X-Request-ID'), `${route} ${status}`);
      if (!isError(response)) continue;
      const examples = Object.keys(
        (response.content as Record<string, Json>)['application/json']?.examples as Json,
      );
      codes.push(...examples);
      t.strictSame(
        [...new Set(examples.map(code => ERRORS[code as ErrorCode].status))],
        [status],
        `${route} ${status}`,
      );
      t.equal(headers.includes('WWW-Authenticate'), status === 401, `${route} ${status}`);
      t.equal(headers.includes('Retry-After'), status === 429 || status === 503, `${route} ${status}`);
      const shape = examples.includes('inbox_limit_reached')
        ? 'InboxError'
        : examples.includes('outbound_limit_reached')
          ? 'QuotaError'
          : 'Error';
      t.equal(holds(response), shape, `${route} ${status}`);
    }
    t.strictSame(codes.sort(), [...(operation['x-error-codes'] as string[])].sort(), route);
  }
});

t.test('the catalogue has the codes of the tables, and the document those of what is served', async t => {
  // These come from no operation: there is none, or the request was not read.
  const general = ['method_not_allowed', 'request_timeout', 'headers_too_large'];
  const all = new Set([...ROWS.flatMap(codesOf), ...general]);
  t.strictSame(Object.keys(ERRORS).sort(), [...all].sort());
  const documented = new Set(operations.flatMap(({ operation }) => operation['x-error-codes'] as string[]));
  t.strictSame([...documented].sort(), [...new Set(served.flatMap(codesOf))].sort());
});

t.test('the daemon publishes what the route table says, and nothing but pages is left out', async t => {
  t.strictSame(document, JSON.parse(JSON.stringify(openApiDocument(routes, SERVICE))));
  const documented = new Set(operations.map(({ route }) => route));
  t.strictSame(
    routes.filter(({ method, path }) => !documented.has(`${method} ${path}`)).map(({ path }) => path),
    PAGES,
  );
});
