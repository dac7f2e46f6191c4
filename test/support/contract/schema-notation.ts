import type { Json } from './contract-schemas.js';

/**
 * A schema of a published document in short, much as TypeScript writes types:
 * `{id: Id, labels: Label[<=32], html?: string | null}`. `strict` stands before an object that takes no other
 * members; bounds stand in brackets, `<=255B` in bytes of UTF-8.
 */
export function notationOf(schema: Json): string {
  if (typeof schema.$ref === 'string') return schema.$ref.slice('#/components/schemas/'.length);
  for (const [key, sign] of [
    ['allOf', ' & '],
    ['anyOf', ' | '],
    ['oneOf', ' | '],
  ] as const) {
    if (Array.isArray(schema[key])) return (schema[key] as Json[]).map(notationOf).join(sign);
  }
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map(value => JSON.stringify(value)).join(' | ');
  if (Array.isArray(schema.type)) return schema.type.join(' | ');
  if (schema.type === 'array') return arrayNotation(schema);
  if (schema.type === 'object') return objectNotation(schema);
  return `${schema.type ?? 'unknown'}${stringBounds(schema)}`;
}

function objectNotation(schema: Json): string {
  const required = (schema.required ?? []) as readonly string[];
  const members = Object.entries((schema.properties ?? {}) as Record<string, Json>).map(
    ([name, member]) => `${name}${required.includes(name) ? '' : '?'}: ${notationOf(member)}`,
  );
  const strict = schema.additionalProperties === false ? 'strict ' : '';
  const atLeast = schema.minProperties === undefined ? '' : ` [>=${schema.minProperties}]`;
  return `${strict}{${members.join(', ')}}${atLeast}`;
}

function arrayNotation(schema: Json): string {
  const item = notationOf(schema.items as Json);
  const bounds = [
    ...(schema.minItems === undefined ? [] : [`>=${schema.minItems}`]),
    ...(schema.maxItems === undefined ? [] : [`<=${schema.maxItems}`]),
  ];
  return `${item.includes(' ') && !item.startsWith('{') ? `(${item})` : item}[${bounds.join(', ')}]`;
}

function stringBounds(schema: Json): string {
  const bounds = [
    ...(schema.minLength === undefined ? [] : [`>=${schema.minLength}`]),
    ...(schema.maxLength === undefined ? [] : [`<=${schema.maxLength}`]),
    ...(schema['x-max-utf8-bytes'] === undefined ? [] : [`<=${schema['x-max-utf8-bytes']}B`]),
    ...(schema.pattern === undefined ? [] : [`/${schema.pattern}/`]),
  ];
  return bounds.length === 0 ? '' : ` [${bounds.join(', ')}]`;
}
