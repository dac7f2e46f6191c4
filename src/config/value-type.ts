import type { Secret } from './secret.js';

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
