import { type Command, InvalidArgumentError } from 'commander';

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

export interface PagingOptions {
  readonly limit: number;
  readonly cursor?: string;
}

/** The options of a list that comes in pages, newest first. */
export function addPaging(command: Command): Command {
  return command
    .option('--limit <n>', 'how many to show, 1 to 1000', wholeNumber(1, 1000), 50)
    .option('--cursor <cursor>', 'go on behind an earlier page: its next_cursor');
}

export function toPage({ limit, cursor }: PagingOptions): { limit: number; cursor: string | null } {
  return { limit, cursor: cursor ?? null };
}

/** The line below a page that is not the last; empty below the last. */
export function renderMore(nextCursor: string | null): string {
  return nextCursor === null ? '' : `There is more: --cursor ${nextCursor}\n`;
}
