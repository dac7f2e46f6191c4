import { RESPONSE_HEADERS, type ResponseHeader } from '../../contract/operation.js';
import type { ParameterSpec } from '../../contract/parameters.js';
import { type JsonObject, type Schema, SchemaBook } from '../../contract/schema-book.js';

/** Collects what operations share: each goes once into `components`, and a `$ref` goes where it is used. */
export class ComponentBook {
  readonly #schemas = new SchemaBook();
  readonly #sections = {
    headers: new Map<string, JsonObject>(),
    responses: new Map<string, JsonObject>(),
  };

  schema(schema: Schema): JsonObject {
    return this.#schemas.add(schema);
  }

  /** Written out where it is used: simple generators do not follow references to parameters. */
  parameter(name: string, place: 'path' | 'query', spec: ParameterSpec): JsonObject {
    return {
      name,
      in: place,
      description: spec.description,
      ...(place === 'path' ? { required: true } : {}),
      ...(spec.isExtension === true ? { 'x-extension': true } : {}),
      schema: this.schema(spec.schema),
    };
  }

  header(name: ResponseHeader): JsonObject {
    return this.#refer('headers', name, () => {
      const spec = RESPONSE_HEADERS[name];
      return {
        description: spec.description,
        required: !('isOptional' in spec),
        schema: this.schema(spec.schema),
      };
    });
  }

  response(name: string, make: () => JsonObject): JsonObject {
    return this.#refer('responses', name, make);
  }

  /** Everything used so far, sorted by name. */
  components(): JsonObject {
    const sections = Object.entries(this.#sections).map(([section, entries]) => [section, sorted(entries)]);
    return { schemas: this.#schemas.components(), ...Object.fromEntries(sections) };
  }

  #refer(section: 'headers' | 'responses', name: string, make: () => JsonObject): JsonObject {
    const entries = this.#sections[section];
    if (!entries.has(name)) entries.set(name, make());
    return { $ref: `#/components/${section}/${name}` };
  }
}

function sorted(entries: ReadonlyMap<string, JsonObject>): JsonObject {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}
