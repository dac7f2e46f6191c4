import { InvalidArgumentError } from 'commander';

/** Collects the values of an option that may be repeated. */
export function everyValue(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/** Parses an option's value as a whole number within bounds; anything else is a usage error. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return text => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) {
      throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}
