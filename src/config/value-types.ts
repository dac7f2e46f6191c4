import { resolve } from 'node:path';
import { normaliseLocalPart } from '../domain/addresses.js';
import { resultOf } from '../domain/errors.js';
import { type Checked, invalid, type ValueType, valid } from './key.js';
import { checkDomainName } from './net-types.js';
import { quoteValue } from './texts.js';

/** A text on one line, without control characters; lengths are in characters (UTF-16 units). */
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

/** A whole number from `min` to `max`. */
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

/** A number from `min` to `max`, fractions allowed. */
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

/** Yes or no. */
export function boolean(): ValueType<boolean> {
  return {
    name: 'boolean',
    allowed: 'true or false',
    isSecret: false,
    check: raw => (typeof raw === 'boolean' ? valid(raw) : invalid('is neither true nor false')),
    fromText: given =>
      new Map([
        ['true', true],
        ['false', false],
      ]).get(given.trim()),
  };
}

/** One of the given words. */
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
 * A path of a file or folder, made absolute. A relative path starts from the folder of the configuration file, or
 * from the working directory when an environment variable sets it.
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

/** A list without duplicates; in an environment variable its items are separated by commas. */
export function listOf(
  item: ValueType<string>,
  options: { readonly minItems?: number } = {},
): ValueType<readonly string[]> {
  const { minItems = 0 } = options;
  return {
    name: `list of ${item.name}s`,
    allowed: `${minItems > 0 ? `at least ${minItems}; ` : ''}no duplicates${item.allowed === '' ? '' : `; each ${item.allowed}`}`,
    isSecret: item.isSecret,
    check(raw, folder) {
      if (!Array.isArray(raw)) return invalid('is not a list in brackets');
      const values: string[] = [];
      for (const entry of raw as readonly unknown[]) {
        const checked = item.check(entry, folder);
        if (!checked.ok) {
          return invalid(`has an item, ${quoteValue(entry)}, that ${checked.wrong}`, checked.instead);
        }
        if (values.includes(checked.value)) return invalid(`names ${quoteValue(checked.value)} twice`);
        values.push(checked.value);
      }
      return values.length < minItems ? invalid(`has fewer than ${minItems}`) : valid(values);
    },
    fromText: given =>
      given.trim() === '' ? [] : given.split(',').map(entry => item.fromText(entry.trim())),
  };
}

/** A domain of email addresses: two labels or more, or `localhost` for a trial. */
export function mailDomain(): ValueType<string> {
  return {
    name: 'mail domain',
    allowed: 'ASCII or punycode',
    isSecret: false,
    check: raw =>
      typeof raw === 'string' ? checkMailDomain(raw.trim()) : invalid('is not a domain in quotes'),
    fromText: given => given,
  };
}

/** The address of an inbox: local part and mail domain, lowercased. */
export function inboxAddress(): ValueType<string> {
  return {
    name: 'address',
    allowed: 'local-part@domain',
    isSecret: false,
    check(raw) {
      if (typeof raw !== 'string') return invalid('is not an address in quotes');
      const address = raw.trim().toLowerCase();
      const at = address.lastIndexOf('@');
      if (at < 0) return invalid('has no @');
      const localPart = checkLocalPart(address.slice(0, at));
      if (!localPart.ok) return invalid(`has a local part that ${localPart.wrong}`);
      const domain = checkMailDomain(address.slice(at + 1));
      return domain.ok ? valid(address) : invalid(`has a domain that ${domain.wrong}`);
    },
    fromText: given => given,
  };
}

/** An email address of anybody, in ASCII (RFC 5321 section 4.1.2, without quoted local parts). */
export function emailAddress(): ValueType<string> {
  return {
    name: 'address',
    allowed: 'local-part@domain',
    isSecret: false,
    check(raw) {
      if (typeof raw !== 'string') return invalid('is not an address in quotes');
      const address = raw.trim();
      const [, localPart = '', name = ''] = /^([^@]*)@([^@]*)$/.exec(address) ?? [];
      if (!/^[\w.!#$%&'*+/=?^`{|}~-]{1,64}$/.test(localPart)) return invalid('is not an email address');
      const domain = checkMailDomain(name);
      return domain.ok ? valid(`${localPart}@${domain.value}`) : invalid(`has a domain that ${domain.wrong}`);
    },
    fromText: given => given,
  };
}

/** The local part of an inbox address, lowercased. */
export function localPart(): ValueType<string> {
  return {
    name: 'local part',
    allowed: '1 to 64 letters, digits, - and _, alphanumeric at both ends',
    isSecret: false,
    check: raw => (typeof raw === 'string' ? checkLocalPart(raw) : invalid('is not a local part in quotes')),
    fromText: given => given,
  };
}

/** The domain of inboxes: a full name, or `localhost` for a trial; lowercased. */
export function checkMailDomain(text: string): Checked<string> {
  const domain = checkDomainName(text);
  if (domain.ok && !domain.value.includes('.') && domain.value !== 'localhost') {
    return invalid('is a single label; mail needs a full domain name');
  }
  return domain;
}

function checkLocalPart(text: string): Checked<string> {
  const localPart = resultOf(() => normaliseLocalPart(text));
  return localPart.ok
    ? valid(localPart.value)
    : invalid('is not 1 to 64 letters, digits, - and _ that start and end with a letter or digit');
}
