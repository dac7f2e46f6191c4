import { resolve } from 'node:path';
import { invalid, type ValueType, valid } from './value-type.js';

/** A short text on one line: no control characters. */
export function text(options: {
  readonly maxLength: number;
  readonly minLength?: number;
}): ValueType<string> {
  const { maxLength, minLength = 0 } = options;
  return {
    name: 'text',
    allowed: `${minLength > 0 ? `${minLength} to` : 'at most'} ${maxLength} characters on one line`,
    isSecret: false,
    check(raw) {
      if (typeof raw !== 'string') return invalid('is not text in quotes');
      if (/[\p{Cc}\u2028\u2029]/u.test(raw)) return invalid('has a line break or another control character');
      const value = raw.trim();
      if (value.length < minLength) {
        return invalid(value === '' ? 'is empty' : `is shorter than ${minLength} characters`);
      }
      return value.length > maxLength ? invalid(`is longer than ${maxLength} characters`) : valid(value);
    },
    fromText: given => given,
  };
}

/** A whole number within a range. */
export function integer(range: { readonly min: number; readonly max: number }): ValueType<number> {
  return {
    name: 'integer',
    allowed: `${range.min} to ${range.max}`,
    isSecret: false,
    check(raw) {
      if (typeof raw !== 'bigint' && !Number.isInteger(raw)) return invalid('is not a whole number');
      return withinRange(Number(raw), range);
    },
    fromText: given => (/^[+-]?\d+$/.test(given.trim()) ? BigInt(given.trim().replace('+', '')) : undefined),
  };
}

/** A number, fractions allowed, within a range. */
export function number(range: { readonly min: number; readonly max: number }): ValueType<number> {
  return {
    name: 'number',
    allowed: `${range.min} to ${range.max}, fractions allowed`,
    isSecret: false,
    check(raw) {
      const value = typeof raw === 'bigint' ? Number(raw) : raw;
      return typeof value !== 'number' || !Number.isFinite(value)
        ? invalid('is not a number')
        : withinRange(value, range);
    },
    fromText: given =>
      /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(given.trim()) ? Number(given) : undefined,
  };
}

function withinRange(value: number, range: { readonly min: number; readonly max: number }) {
  if (value < range.min) return invalid(`is below ${range.min}`);
  return value > range.max ? invalid(`is above ${range.max}`) : valid(value);
}

/** `true` or `false`. */
export function boolean(): ValueType<boolean> {
  return {
    name: 'boolean',
    allowed: 'true or false',
    isSecret: false,
    check: raw => (typeof raw === 'boolean' ? valid(raw) : invalid('is neither true nor false')),
    fromText: given => (given.trim() === 'true' ? true : given.trim() === 'false' ? false : undefined),
  };
}

/** One of a few words. */
export function oneOf<const W extends string>(words: readonly W[]): ValueType<W> {
  return {
    name: 'word',
    allowed: `one of ${words.map(word => `"${word}"`).join(', ')}`,
    isSecret: false,
    check(raw) {
      const word = words.find(candidate => candidate === raw);
      return word === undefined ? invalid('is not one of the allowed words') : valid(word);
    },
    fromText: given => given.trim(),
  };
}

/**
 * A file or folder, made absolute. A relative one counts from the folder of the configuration file,
 * or from the working directory when the environment names it.
 */
export function path(): ValueType<string> {
  return {
    name: 'path',
    allowed: '',
    isSecret: false,
    check(raw, folder) {
      if (typeof raw !== 'string') return invalid('is not a path in quotes');
      if (raw.trim() === '') return invalid('is empty');
      return raw.includes('\0') ? invalid('has a NUL character') : valid(resolve(folder, raw));
    },
    fromText: given => given,
  };
}
