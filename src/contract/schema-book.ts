import { z } from 'zod';

/** A published type; only the contract knows with which library it is written. */
export type Schema = z.ZodType;

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Turns zod types into JSON Schema (draft 2020-12, which OpenAPI 3.1 speaks) and keeps the named ones, so
 * that each stands in the document once.
 */
export class SchemaBook {
  readonly #components = new Map<string, JsonObject>();
  readonly #converted = new Map<Schema, JsonObject>();

  /** What stands for the type where it is used: a reference to a named type, else the schema itself. */
  add(schema: Schema): JsonObject {
    const known = this.#converted.get(schema);
    if (known !== undefined) return known;
    // As input: an object that is not strict says nothing about further members. The example of a type without
    // a name stands beside it, where the type is used.
    const { $schema, $defs, examples, ...rest } = z.toJSONSchema(schema, { io: 'input' });
    for (const [name, component] of Object.entries($defs ?? {}))
      this.#keep(name, pointToComponents(component));
    const converted = pointToComponents(rest);
    this.#converted.set(schema, converted);
    return converted;
  }

  /** The named types that were used so far, in the order of their names. */
  components(): JsonObject {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #keep(name: string, component: JsonObject): void {
    const known = this.#components.get(name);
    if (known === undefined) this.#components.set(name, component);
    else if (JSON.stringify(known) !== JSON.stringify(component)) {
      throw new Error(`two types of the API are called ${name}: the document can have one`);
    }
  }
}

/** zod keeps named types beside each schema; the document keeps them in one place. */
function pointToComponents(schema: object): JsonObject {
  const text = JSON.stringify(schema);
  return JSON.parse(text, (key, value) =>
    key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', '#/components/schemas/') : value,
  ) as JsonObject;
}

/** The name of a component, and the first example that a type brings along. */
export function nameOf(schema: Schema): string | undefined {
  return z.globalRegistry.get(schema)?.id;
}

export function exampleOf(schema: Schema): unknown {
  const examples = z.globalRegistry.get(schema)?.examples;
  return Array.isArray(examples) ? examples[0] : undefined;
}
