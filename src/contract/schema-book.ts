import { z } from 'zod';

/** A published type. Other folders use this name, so that only `contract` depends on zod. */
export type Schema = z.ZodType;

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Turns zod types into JSON Schema (draft 2020-12, as OpenAPI 3.1 uses) and collects the named ones, so that each is
 * in the document once.
 */
export class SchemaBook {
  readonly #components = new Map<string, JsonObject>();
  readonly #converted = new Map<Schema, JsonObject>();

  /** The schema to put where the type is used: a `$ref` to a named type, else the type itself. */
  add(schema: Schema): JsonObject {
    const known = this.#converted.get(schema);
    if (known !== undefined) return known;
    // `io: 'input'`: an object that is not strict leaves `additionalProperties` open. `examples` of a type without
    // a name go with the place where it is used, not into the schema.
    const { $schema, $defs, examples, ...rest } = z.toJSONSchema(schema, { io: 'input' });
    for (const [name, component] of Object.entries($defs ?? {})) {
      this.#keep(name, pointToComponents(component));
    }
    const converted = pointToComponents(rest);
    this.#converted.set(schema, converted);
    return converted;
  }

  /** The named types used so far, sorted by name. */
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

/** Rewrites zod's references to `$defs` of each schema into references to the document's components. */
function pointToComponents(schema: object): JsonObject {
  const text = JSON.stringify(schema);
  return JSON.parse(text, (key, value) =>
    key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', '#/components/schemas/') : value,
  ) as JsonObject;
}

/** The name under which the type is a component; undefined for a type without a name. */
export function nameOf(schema: Schema): string | undefined {
  return z.globalRegistry.get(schema)?.id;
}

export function exampleOf(schema: Schema): unknown {
  const examples = z.globalRegistry.get(schema)?.examples;
  return Array.isArray(examples) ? examples[0] : undefined;
}
