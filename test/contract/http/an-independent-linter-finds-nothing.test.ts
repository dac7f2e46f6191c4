import { createConfig, lintFromString, type NormalizedProblem } from '@redocly/openapi-core';
import t from 'tap';
import { z } from 'zod';
import { openApiDocument } from '../../../src/http/openapi/openapi-document.js';
import { startBox } from '../../support/box/postern-box.js';
import type { Json } from '../../support/contract/contract-schemas.js';
import { readDocument } from '../../support/contract/served-contract.js';
import { allSchemas, routesThatShow } from './all-schemas.js';

const PUBLIC_URL = 'https://postern.test';

/** The `recommended` rules of Redocly, warnings included; they check against the OpenAPI 3.1 schema as well. */
async function lint(document: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  return problems.map(tell).sort();
}

function tell({ ruleId, location, message }: NormalizedProblem): string {
  const place = location[0]?.pointer ?? '';
  return ruleId === 'operation-4xx-response' ? `${ruleId} ${place}` : `${ruleId} ${place}: ${message}`;
}

t.test('the document that a daemon publishes is sound', async t => {
  const box = await startBox(t, { env: { POSTERN_SERVICE_PUBLIC_URL: PUBLIC_URL } });
  const document = await readDocument(box.httpPort);
  t.strictSame(await lint(document), [
    // These take nothing from the client that could be wrong.
    'operation-4xx-response #/paths/~1healthz/get/responses',
    'operation-4xx-response #/paths/~1openapi.json/get/responses',
    'operation-4xx-response #/paths/~1readyz/get/responses',
  ]);
  for (const { path, media } of jsonBodies(document, '#')) {
    t.ok('example' in media || 'examples' in media, `${path} shows an example`);
  }
});

t.test('so are the types that no route uses yet, and the examples of all', async t => {
  const routes = routesThatShow(await allSchemas());
  t.strictSame(await lint(openApiDocument(routes, { name: 'Postern', publicUrl: PUBLIC_URL })), []);
});

t.test('it would have told of an example that does not fit', async t => {
  const wrong = z.object({ count: z.number() }).meta({ examples: [{ count: 'three' }] });
  const routes = routesThatShow([['Wrong', wrong]]);
  t.strictSame(await lint(openApiDocument(routes, { name: 'Postern', publicUrl: PUBLIC_URL })), [
    'no-invalid-media-type-examples #/paths/~1show~1wrong/get/responses/200/content/application~1json/example/count: Example value must conform to the schema: `count` property type must be number.',
  ]);
});

/** Every media type of JSON in the document. */
function jsonBodies(node: unknown, path: string): { path: string; media: Json }[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    key === 'application/json'
      ? [{ path, media: value as Json }]
      : jsonBodies(value, `${path}/${key.replaceAll('/', '~1')}`),
  );
}
