import t from 'tap';
import { z } from 'zod';
import { CreateInbox } from '../../../../src/contract/inboxes.js';
import { body, documentOf, route } from './parts.js';

t.test('a parameter that is not declared', async t => {
  t.throws(
    () => documentOf(route({ path: '/v1/things/{thing_id}' })),
    /getThing: declare the parameter thing_id in src\/contract\/parameters\.ts/,
  );
  t.throws(
    () => documentOf(route({ query: { names: ['colour'], invalid: 'invalid_search' } })),
    /getThing: declare the parameter colour/,
  );
});

t.test('a body without a name or without an example', async t => {
  const nameless = z.strictObject({}).meta({ examples: [{}] });
  const bare = z.strictObject({}).meta({ id: 'Bare' });
  for (const schema of [nameless, bare]) {
    t.throws(() => documentOf(route({ method: 'POST', body: body(schema) })), /needs an id and an example/);
  }
});

t.test('a status that is an answer and an error', async t => {
  const { responses } = route();
  t.throws(
    () =>
      documentOf(
        route({ responses: { ...responses, 503: { description: 'Not now.', schema: CreateInbox } } }),
        route({
          method: 'DELETE',
          operationId: 'b',
          responses: { 404: { description: 'Gone.', schema: CreateInbox } },
          errors: ['not_found'],
        }),
      ),
    /b: 404 is an answer and an error/,
  );
});

t.test('two types of one name', async t => {
  const other = z.strictObject({ other: z.string() }).meta({ id: 'CreateInbox', examples: [{ other: 'x' }] });
  t.throws(
    () =>
      documentOf(
        route({ method: 'POST', body: body(CreateInbox) }),
        route({ method: 'PATCH', operationId: 'b', body: body(other) }),
      ),
    /two types of the API are called CreateInbox/,
  );
});
