import t from 'tap';
import { CreateInbox } from '../../../../src/contract/inboxes.js';
import { SignupInput } from '../../../../src/contract/signup.js';
import { body, documentOf, operationOf, route } from './parts.js';

t.test('what a key and a body bring is known without being declared', async t => {
  const operation = operationOf({ method: 'POST', auth: 'bearer', body: body(SignupInput) });
  t.strictSame(operation['x-error-codes'], [
    'invalid_json',
    'invalid_request',
    'unauthorized',
    'body_too_large',
    'unsupported_media_type',
  ]);
  t.strictSame(Object.keys(operation.responses), ['200', '400', '401', '413', '415']);
});

t.test('so is what fields, a key, a query, a path, a guard and the unforeseen bring', async t => {
  const codesOf = (fields: Parameters<typeof operationOf>[0]) => operationOf(fields)['x-error-codes'];
  t.strictSame(codesOf({ method: 'POST', body: body(CreateInbox) }), [
    'invalid_json',
    'invalid_request',
    'invalid_local_part',
    'invalid_name',
    'invalid_idempotency_key',
    'idempotency_conflict',
    'idempotency_result_unavailable',
    'body_too_large',
    'unsupported_media_type',
  ]);
  const query = {
    names: ['limit', 'cursor', 'prefix'],
    lists: ['labels_all'],
    invalid: 'invalid_search',
  } as const;
  t.strictSame(codesOf({ query }), ['invalid_limit', 'invalid_cursor', 'invalid_search', 'invalid_labels']);
  t.strictSame(
    codesOf({ query: { ...query, names: ['cursor'], lists: [], codes: { cursor: 'invalid_draft' } } }),
    ['invalid_search', 'invalid_draft'],
  );
  t.strictSame(codesOf({ path: '/v1/inboxes/{inbox_id}' }), ['not_found']);
  t.strictSame(codesOf({ isGuarded: true }), ['origin_not_allowed', 'rate_limited']);
  t.strictSame(codesOf({ uncertain: 'draft_unavailable' }), ['draft_unavailable']);
});

t.test('codes of one status share a response, with an example of each', async t => {
  const { responses } = operationOf({ errors: ['invalid_limit', 'invalid_cursor', 'not_found'] });
  t.match(responses[400], {
    description: /`invalid_limit`: .*\n\n`invalid_cursor`: /,
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: {
          invalid_limit: { value: { error: { code: 'invalid_limit', message: String } } },
          invalid_cursor: { value: { error: { code: 'invalid_cursor' } } },
        },
      },
    },
  });
});

t.test('a response of one code is shared by all operations', async t => {
  const document = documentOf(
    route({ errors: ['not_found'] }),
    route({ method: 'DELETE', operationId: 'b', errors: ['not_found', 'operation_not_allowed'] }),
  );
  const reference = { $ref: '#/components/responses/not_found' };
  const { get, delete: remove } = document.paths['/v1/things'];
  t.strictSame([get.responses[404], remove.responses[404]], [reference, reference]);
  t.match(document.components.responses.not_found.content['application/json'].examples, {
    not_found: { value: { error: { code: 'not_found' } } },
  });
});

t.test('401 says how to authenticate, 429 when to come again', async t => {
  const { components } = documentOf(route({ auth: 'bearer', errors: ['rate_limited'] }));
  const headers = (code: string) => Object.keys(components.responses[code].headers);
  t.strictSame(headers('unauthorized'), ['X-Request-ID', 'WWW-Authenticate']);
  t.strictSame(headers('rate_limited'), ['X-Request-ID', 'Retry-After']);
  t.match(components.headers, {
    'X-Request-ID': { required: true },
    'WWW-Authenticate': { required: true, schema: { const: 'Bearer' } },
    'Retry-After': { required: false },
  });
});

t.test('errors that say more have their own shape', async t => {
  const { components } = documentOf(route({ errors: ['outbound_limit_reached'] }));
  const response = components.responses.outbound_limit_reached.content['application/json'];
  t.strictSame(response.schema, { $ref: '#/components/schemas/QuotaError' });
  t.match(response.examples.outbound_limit_reached.value, {
    error: { code: 'outbound_limit_reached' },
    quota: { unit: 'recipient_deliveries' },
    requested_recipients: 1,
  });

  const { responses } = operationOf({ errors: ['address_unavailable', 'inbox_limit_reached'] });
  const conflict = responses[409].content['application/json'];
  t.strictSame(conflict.schema, { $ref: '#/components/schemas/InboxError' }, 'a plain error fits it too');
  t.match(conflict.examples.inbox_limit_reached.value.error.details.allowance, { unit: 'inbox_slots' });

  const both = operationOf({ errors: ['outbound_limit_reached', 'rate_limited'] }).responses[429];
  t.strictSame(both.content['application/json'].schema, {
    anyOf: [{ $ref: '#/components/schemas/Error' }, { $ref: '#/components/schemas/QuotaError' }],
  });
});
