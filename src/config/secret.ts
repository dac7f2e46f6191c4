import { inspect } from 'node:util';

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
