import { createRequire } from 'node:module';
import type Libsql from 'libsql';

/**
 * What this folder needs of SQLite. Only this file knows the library, so that another one, or Node's own, can take its
 * place.
 */

export type SqlValue = number | string | Buffer | null;

export interface Statement {
  run(...values: SqlValue[]): void;
  /** Rows as arrays of their columns. */
  all(...values: SqlValue[]): readonly (readonly SqlValue[])[];
}

const require = createRequire(import.meta.url);
let library: typeof Libsql | undefined;

/** Loads the library when an index is opened: the main thread of the daemon and most commands never do. */
function load(): typeof Libsql {
  library ??= require('libsql') as typeof Libsql;
  return library;
}

/** How long a statement waits for another connection, in milliseconds. */
const BUSY_MS = 2_000;

/**
 * Codes that say nothing about the file: another try later may succeed. What fails in writing or in the file that
 * connections share is the disk, which may be full; what cannot be read stays so.
 */
const PASSING =
  /^SQLITE_(FULL|BUSY|LOCKED|NOMEM|CANTOPEN|READONLY|PERM|PROTOCOL|IOERR(?!_(READ|SHORT_READ|CORRUPTFS|DATA)))/;

/** One connection to one file. */
export class Connection {
  readonly #database: Libsql.Database;

  /** Opens the file, and makes it where there is none. */
  constructor(path: string) {
    this.#database = new (load())(path, { timeout: BUSY_MS });
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  prepare(sql: string): Statement {
    const statement = this.#database.prepare(sql);
    if (!(statement as unknown as { readonly reader: boolean }).reader) {
      return {
        run: (...values) => {
          statement.run(values.map(bound));
        },
        all: () => [],
      };
    }
    const rows = statement.raw(true);
    return {
      run: (...values) => {
        rows.all(values.map(bound));
      },
      all: (...values) => rows.all(values.map(bound)) as SqlValue[][],
    };
  }

  /** Runs `work` in a transaction of its own, which is undone when it throws. */
  transaction(work: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#database.exec('COMMIT');
    } catch (error) {
      try {
        this.#database.exec('ROLLBACK');
      } catch {
        // SQLite has rolled back by itself.
      }
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }
}

/**
 * The library binds numbers as floating point, which FTS5 takes for no bound of rows: it would walk over every row that
 * has the words. It binds a BigInt as an integer.
 */
function bound(value: SqlValue): SqlValue | bigint {
  return Number.isSafeInteger(value) ? BigInt(value as number) : value;
}

/** Is this no fault of the file, such as a disk that is full? */
export function isPassing(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return PASSING.test(code);
}
