import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Operation } from '../../../src/contract/operation.js';
import { exampleOf } from '../../../src/contract/schema-book.js';

const folder = join(import.meta.dirname, '../../../src/contract');

/** Every type that a file of `contract/` offers, by its name there, whether a route uses it yet or not. */
export async function allSchemas(): Promise<[string, z.ZodType][]> {
  const files = readdirSync(folder).filter(file => file.endsWith('.js'));
  const modules = await Promise.all(
    files.sort().map(file => import(join(folder, file)) as Promise<Record<string, unknown>>),
  );
  return modules.flatMap(module =>
    Object.entries(module).filter((entry): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType),
  );
}

/** Routes that answer with these types: what has an example can be a whole answer. */
export function routesThatShow(schemas: readonly [string, z.ZodType][]): Operation[] {
  return schemas
    .filter(([, schema]) => exampleOf(schema) !== undefined)
    .map(([name, schema]) => ({
      operationId: `show${name}`,
      method: 'GET',
      path: `/show/${name.toLowerCase()}`,
      auth: 'bearer',
      tag: 'service',
      summary: `Show ${name}`,
      responses: { 200: { description: name, schema } },
      uncertain: null,
    }));
}
