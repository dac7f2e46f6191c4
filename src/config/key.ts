import { inspect } from 'node:util';
import type { SystemFacts } from './system-facts.js';

/** What applies when a key is not set. */
export type Fallback = ValueFallback | RequiredFallback | UnsetFallback | DerivedFallback;

/** A fixed default. */
interface ValueFallback {
  readonly kind: 'value';
  readonly raw: RawValue;
  /** What the example file shows when `raw` is empty. */
  readonly example?: RawValue;
}

/** There is no sensible default: start-up fails. */
interface RequiredFallback {
  readonly kind: 'required';
  readonly example: RawValue;
}

/** The value is `null`. Setting `""` means the same. */
interface UnsetFallback {
  readonly kind: 'unset';
  readonly example: RawValue;
}

/** The value is derived from the machine or from another key. Setting `placeholder`, unless it is null, means the same. */
interface DerivedFallback extends Derivation {
  readonly kind: 'derived';
}

export interface Derivation {
  readonly placeholder: '' | 0 | null;
  /** What the value is derived from, in words for the operator. */
  readonly from: string;
  readonly example: RawValue;
  /**
   * Derives the value; null when it cannot, because a key that it needs is wrong.
   * @param textOf the value of another key by its dotted name, null when that is wrong; it must not be derived itself
   */
  derive(facts: SystemFacts, textOf: (id: string) => string | null): RawValue | null;
}

/** One configuration key and everything that is known of it. */
export interface Key<T extends ConfigValue, F extends Fallback = Fallback> {
  readonly kind: 'key';
  readonly type: ValueType<T>;
  readonly fallback: F;
  /** One sentence for the operator. */
  readonly doc: string;
}

/** A table of the configuration file: keys and inner tables. */
export interface Section<M extends Members = Members> {
  readonly kind: 'section';
  readonly doc: string;
  readonly members: M;
}

/** Keys and inner sections by their names in the configuration file (snake_case). */
export interface Members {
  readonly [name: string]: Key<ConfigValue> | Section;
}

/** Declares a section. */
export function section<M extends Members>(doc: string, members: M): Section<M> {
  return { kind: 'section', doc, members };
}

/** Declares a key with a default. */
export function key<T extends ConfigValue>(
  type: ValueType<T>,
  defaultValue: RawValue,
  doc: string,
  options: { readonly example?: RawValue } = {},
): Key<T, ValueFallback> {
  return { kind: 'key', type, fallback: { kind: 'value', raw: defaultValue, ...options }, doc };
}

/** Declares a key that must be set. */
export function requiredKey<T extends ConfigValue>(
  type: ValueType<T>,
  example: RawValue,
  doc: string,
): Key<T, RequiredFallback> {
  return { kind: 'key', type, fallback: { kind: 'required', example }, doc };
}

/** Declares a key that is `null` unless it is set. */
export function optionalKey<T extends ConfigValue>(
  type: ValueType<T>,
  example: RawValue,
  doc: string,
): Key<T, UnsetFallback> {
  return { kind: 'key', type, fallback: { kind: 'unset', example }, doc };
}

/** Declares a key whose default is derived at start-up. */
export function derivedKey<T extends ConfigValue>(
  type: ValueType<T>,
  derivation: Derivation,
  doc: string,
): Key<T, DerivedFallback> {
  return { kind: 'key', type, fallback: { kind: 'derived', ...derivation }, doc };
}

/** A value that has been checked. */
export type ConfigValue = string | number | boolean | readonly string[] | Secret;

/** A value as TOML or a default gives it, not yet checked. */
export type RawValue = string | number | boolean | readonly string[];

/**
 * The result of a check: the normalised value, or what is wrong in words that follow the value ("is above 65535").
 * `instead` proposes a value that would be right.
 */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly wrong: string; readonly instead?: string };

/** A type of value: its name, its bounds, and how it is read and checked. */
export interface ValueType<T extends ConfigValue> {
  /** Its name in `postern config explain`: "integer", "host name". */
  readonly name: string;
  /** The range or the allowed values in words; empty when the name is enough. */
  readonly allowed: string;
  /** Secret values are never printed, not even in the message that refuses them. */
  readonly isSecret: boolean;
  /** Checks a value from TOML, which gives integers as bigint. Relative paths start from `folder`. */
  check(raw: unknown, folder: string): Checked<T>;
  /** Turns the text of an environment variable into the value TOML would give; undefined when it does not fit. */
  fromText(text: string): unknown;
}

/** The result for a valid value. */
export function valid<T>(value: T): Checked<T> {
  return { ok: true, value };
}

/** The result for an invalid value. */
export function invalid(wrong: string, instead?: string): Checked<never> {
  return instead === undefined ? { ok: false, wrong } : { ok: false, wrong, instead };
}

/**
 * A value that must not be printed. Only `reveal()` gives it; string conversion, JSON and `util.inspect`, and so logs
 * and error messages, show that it is set and no more.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '(set)';
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}
