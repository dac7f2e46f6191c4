import t from 'tap';
import { Deleted } from '../../../../src/contract/common.js';
import { CreateInbox, FirstCreatedInbox } from '../../../../src/contract/inboxes.js';
import { MessageCount, ReceivedDetail } from '../../../../src/contract/messages.js';
import { body, documentOf, operationOf, route, SERVICE } from './parts.js';

t.test('the service, its version, and how to authenticate', async t => {
  const document = documentOf(route());
  t.match(document, {
    openapi: '3.1.0',
    info: { title: 'Letters API', version: '1.0.0', description: /X-Request-ID/ },
    servers: [{ url: SERVICE.publicUrl }],
    security: [{ bearerAuth: [] }],
    components: { securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } } },
  });
});

t.test('the chapters that are in use, in their order', async t => {
  const document = documentOf(
    route({ tag: 'trash' }),
    route({ tag: 'inboxes', method: 'POST', operationId: 'b' }),
  );
  t.strictSame(
    document.tags.map(({ name }: { name: string }) => name),
    ['inboxes', 'trash'],
  );
});

t.test('an operation: name, words, and whether it needs a key', async t => {
  t.match(operationOf({ description: 'More of it.' }), {
    operationId: 'getThing',
    tags: ['service'],
    summary: 'Get a thing',
    description: 'More of it.',
    security: [],
    'x-error-codes': [],
  });
  const closed = operationOf({ auth: 'bearer' });
  t.notOk('security' in closed, 'the key of the whole document');
  t.notOk('description' in closed);
});

t.test('operations of one path stand together', async t => {
  const paths = documentOf(route(), route({ method: 'DELETE', operationId: 'deleteThing' })).paths;
  t.strictSame(Object.keys(paths), ['/v1/things']);
  t.strictSame(Object.keys(paths['/v1/things']), ['get', 'delete']);
});

t.test('parameters of the path are required, those of the query are not', async t => {
  const fields = {
    path: '/v1/inboxes/{inbox_id}/messages',
    query: { names: ['limit', 'cursor'], lists: ['labels_all'], invalid: 'invalid_search' },
  } as const;
  const { parameters } = documentOf(route(fields)).paths[fields.path].get;
  t.match(parameters, [
    { name: 'inbox_id', in: 'path', required: true, schema: { type: 'string' } },
    { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 } },
    { name: 'cursor', in: 'query' },
    {
      name: 'labels_all',
      in: 'query',
      schema: { type: 'array', maxItems: 32, items: { $ref: '#/components/schemas/Label' } },
    },
  ]);
  t.notOk('required' in parameters[1]);
  t.notOk('style' in parameters[3], 'form and exploded is the default of OpenAPI');
  t.same(
    documentOf(route({ path: '/v1/things' })).paths['/v1/things'].get.parameters,
    [],
    'none, and it says so',
  );
});

t.test('a body: its type, its limit and its example', async t => {
  const { requestBody } = operationOf({ method: 'POST', body: body(CreateInbox) });
  const example = { local_part: 'my-agent', name: 'Research', idempotency_key: 'research-2026-01-31' };
  t.match(requestBody, {
    required: true,
    'x-request-body-limit': 4096,
    'x-example-body': example,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/CreateInbox' }, example } },
  });
});

t.test('an answer: its words, type, example and headers', async t => {
  const { responses } = operationOf({
    responses: {
      202: { description: 'Gone.', schema: Deleted },
      201: { description: 'Made.', schema: FirstCreatedInbox, headers: ['Location'] },
    },
  });
  t.match(responses[202], {
    description: 'Gone.',
    headers: { 'X-Request-ID': { $ref: '#/components/headers/X-Request-ID' } },
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Deleted' },
        example: { status: 'deletion_pending' },
      },
    },
  });
  t.strictSame(Object.keys(responses[202].headers), ['X-Request-ID']);
  t.strictSame(responses[201].headers.Location, { $ref: '#/components/headers/Location' });
  t.match(responses[201].content['application/json'], {
    schema: { allOf: [{ $ref: '#/components/schemas/CreatedInbox' }, { type: 'object' }] },
    example: { replayed: false },
  });
});

t.test('a download: its media type and the headers that keep it a file', async t => {
  const { responses } = operationOf({
    responses: { 200: { description: 'Bytes.', bytes: 'message/rfc822' } },
  });
  t.strictSame(responses[200].content, {
    'message/rfc822': { schema: { type: 'string', format: 'binary' } },
  });
  t.strictSame(Object.keys(responses[200].headers), [
    'X-Request-ID',
    'Content-Disposition',
    'Content-Length',
    'Cache-Control',
    'X-Content-Type-Options',
    'Content-Security-Policy',
  ]);
});

t.test('a type that has a name stands in the document once, and all that it is made of', async t => {
  const { components } = documentOf(
    route({ responses: { 200: { description: 'One.', schema: ReceivedDetail } } }),
    route({
      method: 'POST',
      operationId: 'b',
      responses: { 200: { description: 'Two.', schema: ReceivedDetail } },
    }),
    route({
      method: 'PATCH',
      operationId: 'c',
      responses: { 200: { description: 'Three.', schema: MessageCount } },
    }),
  );
  t.strictSame(Object.keys(components.schemas), [
    'Count',
    'Id',
    'MessageAuthentication',
    'ParsedAddress',
    'ReceivedAttachment',
    'ReceivedContent',
    'ReceivedDetail',
    'Ts',
  ]);
  t.match(components.schemas.Ts, { type: 'string', format: 'date-time', pattern: /\^\\d\{4\}/ });
});

t.test('objects of answers leave room, those of requests do not', async t => {
  const { components } = documentOf(route({ method: 'POST', body: body(CreateInbox) }));
  t.equal(components.schemas.CreateInbox.additionalProperties, false);
  t.notOk('additionalProperties' in components.schemas.Deleted);
});

t.test('equal routes give equal documents', async t => {
  const routes = [route(), route({ path: '/v1/inboxes', operationId: 'b' })];
  t.equal(JSON.stringify(documentOf(...routes)), JSON.stringify(documentOf(...routes)));
});
