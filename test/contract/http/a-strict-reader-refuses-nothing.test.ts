import { compileErrors, validate } from '@readme/openapi-parser';
import t from 'tap';
import { startBox } from '../../support/box/postern-box.js';
import type { Json } from '../../support/contract/contract-schemas.js';
import { readDocument } from '../../support/contract/served-contract.js';

const box = await startBox(t);
const document = await readDocument(box.httpPort);

/** What a parser says that takes nothing beyond the specification; its warnings count as well. */
async function complaints(of: Json): Promise<string[]> {
  // It resolves references in place.
  const result = await validate(structuredClone(of) as Parameters<typeof validate>[0]);
  return result.valid && result.warnings.length === 0 ? [] : [compileErrors(result)];
}

/** The document with another value at a place. */
function damaged(place: readonly string[], value: unknown): Json {
  const copy = structuredClone(document) as Record<string, unknown>;
  const parent = place.slice(0, -1).reduce((node, key) => node[key] as Record<string, unknown>, copy);
  parent[place.at(-1)!] = value;
  return copy;
}

const LIST = ['paths', '/v1/inboxes/{inbox_id}/messages', 'get'];
const SCHEMAS = ['components', 'schemas'];
const schema = { type: 'string' };

const FAULTS: readonly { name: string; place: readonly string[]; value: unknown; told: RegExp }[] = [
  { name: 'an unknown field', place: [...LIST, 'sumary'], value: 'List', told: /sumary/ },
  {
    name: 'an operation id given twice',
    place: [...LIST, 'operationId'],
    value: 'listInboxes',
    told: /listInboxes/,
  },
  {
    name: 'a parameter given twice',
    place: [...LIST, 'parameters', '1'],
    value: { name: 'inbox_id', in: 'path', required: true, schema },
    told: /inbox_id/,
  },
  {
    name: 'a parameter of the path that is not declared',
    place: [...LIST, 'parameters', '0'],
    value: { name: 'inbox', in: 'query', schema },
    told: /inbox_id/,
  },
  { name: 'a component with a blank in its name', place: [...SCHEMAS, 'A b'], value: schema, told: /A b/ },
  {
    name: 'a reference that leads nowhere',
    place: [...SCHEMAS, 'Inbox'],
    value: { $ref: '#/components/schemas/None' },
    told: /None/,
  },
];

t.test('the document that a daemon publishes is read without a complaint', async t => {
  t.strictSame(await complaints(document), []);
});

t.test('it would have told of faults', async t => {
  for (const { name, place, value, told } of FAULTS) {
    // A reference that leads nowhere is thrown.
    const said = await complaints(damaged(place, value)).catch((error: Error) => [error.message]);
    t.match(said, [told], name);
  }
});
