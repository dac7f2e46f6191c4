import type { z } from 'zod';
import { Deleted } from '../../../../src/contract/common.js';
import type { Operation } from '../../../../src/contract/operation.js';
import { openApiDocument } from '../../../../src/http/openapi/openapi-document.js';

export const SERVICE = { name: 'Letters', publicUrl: 'https://letters.test' } as const;

/** An operation that says no more than it must. */
export function route(fields: Partial<Operation> = {}): Operation {
  return {
    operationId: 'getThing',
    method: 'GET',
    path: '/v1/things',
    auth: 'none',
    tag: 'service',
    summary: 'Get a thing',
    responses: { 200: { description: 'The thing.', schema: Deleted } },
    uncertain: null,
    ...fields,
  };
}

export function body(schema: z.ZodType) {
  return { limitBytes: 4096, schema, invalid: 'invalid_request' } as const;
}

/** The document, loosely typed: tests look into it. */
// biome-ignore lint/suspicious/noExplicitAny: a document may hold anything
export function documentOf(...operations: readonly Operation[]): any {
  return JSON.parse(JSON.stringify(openApiDocument(operations, SERVICE)));
}

/** Its only operation. */
// biome-ignore lint/suspicious/noExplicitAny: a document may hold anything
export function operationOf(fields: Partial<Operation>): any {
  const [item] = Object.values(documentOf(route(fields)).paths) as [object];
  return Object.values(item)[0];
}
