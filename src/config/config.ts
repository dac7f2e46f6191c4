import type { Key, Members, Section } from './key.js';
import { KEYS } from './keys.js';
import type { ConfigValue } from './value-type.js';

/** The configuration: one object a section, keys in camelCase (`config.smtp.maxMessageBytes`). */
export type Config = ConfigOf<typeof KEYS>;

type ConfigOf<M extends Members> = {
  readonly [Name in keyof M & string as CamelCase<Name>]: M[Name] extends Section<infer Inner>
    ? ConfigOf<Inner>
    : ValueOf<M[Name]>;
};

/** The value of a key; `null` is possible only where nothing need be set. */
type ValueOf<K> = K extends Key<infer T, infer F> ? (F extends { kind: 'unset' } ? T | null : T) : never;

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** Builds the configuration, frozen, from checked values by dotted key. */
export function shapeConfig(get: (id: string) => ConfigValue | null | undefined): Config {
  // The walk follows KEYS as the type does; what each key's check returned is what its type says.
  return shapeMembers(KEYS, '', get) as unknown as Config;
}

/** The value that a configuration has for a dotted key. */
export function configValue(config: Config, id: string): ConfigValue | null {
  let value: unknown = config;
  for (const name of id.split('.')) {
    value = (value as Readonly<Record<string, unknown>>)[camelCase(name)];
  }
  return value as ConfigValue | null;
}

function shapeMembers(
  members: Members,
  outer: string,
  get: (id: string) => ConfigValue | null | undefined,
): Readonly<Record<string, unknown>> {
  const shaped: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(members)) {
    const id = outer === '' ? name : `${outer}.${name}`;
    const value = member.kind === 'section' ? shapeMembers(member.members, id, get) : get(id);
    if (value === undefined) {
      throw new Error(`the configuration key ${id} has no value`);
    }
    shaped[camelCase(name)] = value;
  }
  return Object.freeze(shaped);
}

/** `max_message_bytes` becomes `maxMessageBytes`. */
function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}
