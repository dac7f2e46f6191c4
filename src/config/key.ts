import { inspect } from 'node:util';
import type { SystemFacts } from './system-facts.js';

/** What holds when nobody sets a key. */
export type Fallback = ValueFallback | RequiredFallback | UnsetFallback | DerivedFallback;

/** This value holds. */
interface ValueFallback {
  readonly kind: 'value';
  readonly raw: RawValue;
  /** What the example file shows when `raw` is empty. */
  readonly example?: RawValue;
}

/** Nothing sensible can: start-up fails. */
interface RequiredFallback {
  readonly kind: 'required';
  readonly example: RawValue;
}

/** The value is `null`. Writing `""` says the same. */
interface UnsetFallback {
  readonly kind: 'unset';
  readonly example: RawValue;
}

/** The value follows from the machine or from another key. Writing `placeholder` says the same. */
interface DerivedFallback extends Derivation {
  readonly kind: 'derived';
}

export interface Derivation {
  readonly placeholder: '' | 0;
  /** Where the value comes from, for the operator. */
  readonly from: string;
  readonly example: RawValue;
  /**
   * `textOf` gives another key, one that does not itself derive, by its dotted name; null when that
   * one is wrong, and then there is nothing to derive either.
   */
  derive(facts: SystemFacts, textOf: (id: string) => string | null): RawValue | null;
}

/** One configuration key: everything that is known of it, said once. */
export interface Key<T extends ConfigValue, F extends Fallback = Fallback> {
  readonly kind: 'key';
  readonly type: ValueType<T>;
  readonly fallback: F;
  /** One sentence for the operator. */
  readonly doc: string;
}

/** A table of the configuration file: keys, and tables within it. */
export interface Section<M extends Members = Members> {
  readonly kind: 'section';
  readonly doc: string;
  readonly members: M;
}

/** What a section holds, by the names of the configuration file (snake_case). */
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

/** Declares a key whose default is worked out at start-up. */
export function derivedKey<T extends ConfigValue>(
  type: ValueType<T>,
  derivation: Derivation,
  doc: string,
): Key<T, DerivedFallback> {
  return { kind: 'key', type, fallback: { kind: 'derived', ...derivation }, doc };
}

/** What a key's value can be once it has been checked. */
export type ConfigValue = string | number | boolean | readonly string[] | Secret;

/** A value as TOML or a default writes it, before it is checked. */
export type RawValue = string | number | boolean | readonly string[];

/**
 * The answer of a check: the value, normalised, or what is wrong with it in words that follow the
 * value ("is above 65535"). `instead` proposes a value that would be right.
 */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly wrong: string; readonly instead?: string };

/** One kind of value: how it is named, bounded, read and checked. */
export interface ValueType<T extends ConfigValue> {
  /** What `postern config explain` calls it: "integer", "host name". */
  readonly name: string;
  /** The range or the allowed values in words; empty when the name says it all. */
  readonly allowed: string;
  /** Secret values are never printed, not even in the message that refuses them. */
  readonly isSecret: boolean;
  /** Checks a value from TOML (integers may come as bigint). Relative paths count from `folder`. */
  check(raw: unknown, folder: string): Checked<T>;
  /** Turns the text of an environment variable into what TOML would have given; undefined if it cannot be. */
  fromText(text: string): unknown;
}

/** Says that a value is right. */
export function valid<T>(value: T): Checked<T> {
  return { ok: true, value };
}

/** Says what is wrong, and what would be right. */
export function invalid(wrong: string, instead?: string): Checked<never> {
  return instead === undefined ? { ok: false, wrong } : { ok: false, wrong, instead };
}

/**
 * A value that must not be printed. Whoever needs it says so with `reveal()`; string conversion,
 * JSON and `util.inspect` (hence logs and error messages) show only that it is set.
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
