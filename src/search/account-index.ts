import { rmSync, statSync } from 'node:fs';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { hasTerms, splitFields } from '../domain/message-words.js';
import type { SearchTerm } from '../domain/search-words.js';
import { reasonOf } from '../lib/async.js';
import { Connection, isPassing, type Statement } from './sqlite.js';

/** The index cannot be used, now or ever, and has to be made anew. */
export class UnusableIndexError extends Error {
  override readonly name = 'UnusableIndexError';
}

/** Row -> its words in UTF-8, as `joinWords` makes them; null where they have to go. */
export interface RowChange {
  readonly row: number;
  readonly words: Uint8Array | null;
}

export interface RowQuestion {
  readonly terms: readonly SearchTerm[];
  /** Rows from this one on, up to but not including `to`. */
  readonly from: number;
  readonly to: number;
  /** Only these rows, in ascending order; all when it is not given. */
  readonly only?: readonly number[] | Float64Array;
}

export interface FoundRows {
  readonly rows: readonly number[];
  readonly isWhole: boolean;
}

export interface RankedRows extends FoundRows {
  readonly scores: readonly number[];
}

const FORMAT = 1;

/**
 * `words` holds no text, only where each word stands; it is told the words of a row again to take them out
 * (https://www.sqlite.org/fts5.html#the_delete_command). `secure-delete` and `secure_delete` make sure that nothing of
 * them stays in the file; with `contentless_delete` it would until a merge. `docs` knows these words, so that a row is
 * taken out exactly as it was put in, whatever the store says by now. The words are ready-made: the tokenizer parts them
 * at blanks and changes nothing.
 */
const SCHEMA = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
  CREATE TABLE docs (row INTEGER PRIMARY KEY, words BLOB NOT NULL);
  CREATE VIRTUAL TABLE words USING fts5(subject, body, content='', tokenize='ascii');
  INSERT INTO words(words, rank) VALUES ('secure-delete', 1);
  CREATE VIRTUAL TABLE instances USING fts5vocab(words, instance);
`;

/** Words of the subject count for more. */
const SCORE = 'bm25(words, 4.0, 1.0)';

interface Statements {
  readonly insert: Statement;
  readonly remove: Statement;
  readonly getDoc: Statement;
  readonly putDoc: Statement;
  readonly removeDoc: Statement;
  readonly putMeta: Statement;
}

/** The index of one account: one file, open for writing or for reading. */
export class AccountIndex {
  readonly #path: string;
  readonly #connection: Connection;
  readonly #inode: number;
  readonly #queries = new Map<string, Statement>();
  #statements: Statements | null = null;

  private constructor(path: string, connection: Connection) {
    this.#path = path;
    this.#connection = connection;
    this.#inode = inodeOf(path) ?? -1;
  }

  /** Makes an empty index in place of whatever is there. */
  static create(path: string, accountId: string): AccountIndex {
    removeIndex(path);
    const connection = new Connection(path);
    try {
      for (const setting of FOR_WRITING) connection.exec(`PRAGMA ${setting}`);
      connection.transaction(() => {
        connection.exec(SCHEMA);
        const put = connection.prepare('INSERT INTO meta(name, value) VALUES (?, ?)');
        put.run('format', FORMAT);
        put.run('account', accountId);
        put.run('mark', 0);
        put.run('before', 0);
      });
      return new AccountIndex(path, connection);
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /** @throws UnusableIndexError */
  static open(path: string, accountId: string, purpose: 'read' | 'write'): AccountIndex {
    if (inodeOf(path) === null) throw new UnusableIndexError('its file is missing');
    return tellingDamage(() => {
      const connection = new Connection(path);
      try {
        for (const setting of purpose === 'write' ? FOR_WRITING : FOR_READING) {
          connection.exec(`PRAGMA ${setting}`);
        }
        const index = new AccountIndex(path, connection);
        const { format, account } = index.#meta();
        if (format !== FORMAT) throw new UnusableIndexError('its file has another format');
        if (account !== accountId) throw new UnusableIndexError('its file belongs to another account');
        return index;
      } catch (error) {
        connection.close();
        throw error;
      }
    });
  }

  /** Is the file that was opened still the one of that name? */
  get isInPlace(): boolean {
    return inodeOf(this.#path) === this.#inode;
  }

  /** Was this what it was last told, or what it had been told before that? (`SearchRecord`) */
  knows(mark: number): boolean {
    return tellingDamage(() => {
      const { mark: last, before } = this.#meta();
      return mark === last || mark === before;
    });
  }

  /**
   * Puts rows in and takes rows out, in one transaction that is on disk when this returns. Doing it twice is like doing
   * it once.
   * @param marks what it is to be known by: afterwards, and as before where the store was not told that it was done
   * @returns false when words that went are still to be read in the file, because somebody searches: try again
   * @throws UnusableIndexError, or what SQLite says when the disk is full
   */
  apply(changes: readonly RowChange[], marks: { readonly from: number; readonly to: number }): boolean {
    return tellingDamage(() => {
      const erased = new Set<string>();
      this.#connection.transaction(() => {
        for (const change of changes) this.#change(change, erased);
        if (erased.size > 0) this.#eraseSeparators(erased);
        const { putMeta } = this.#prepared();
        putMeta.run(marks.from, 'before');
        putMeta.run(marks.to, 'mark');
      });
      // A row that is to go may have gone in a try that was interrupted before the log was emptied.
      return erased.size > 0 || changes.some(({ words }) => words === null) ? this.#emptyLog() : true;
    });
  }

  /** @param erased gets the words that are taken out */
  #change({ row, words }: RowChange, erased: Set<string>): void {
    const { getDoc, putDoc, removeDoc, insert, remove } = this.#prepared();
    const kept = getDoc.all(row)[0]?.[0];
    const packed = words === null ? null : pack(words);
    if (Buffer.isBuffer(kept)) {
      if (packed?.equals(kept) === true) return;
      const { subject, body } = splitFields(unpack(kept).toString('utf8'));
      remove.run(row, subject, body);
      removeDoc.run(row);
      for (const field of [subject, body]) for (const word of field.split(' ')) erased.add(word);
    }
    if (words !== null && packed !== null) {
      const { subject, body } = splitFields(Buffer.from(words).toString('utf8'));
      insert.run(row, subject, body);
      putDoc.run(row, packed);
    }
  }

  /**
   * The index of FTS5 over its pages has words too: one that is greater than all of the page before and not greater than
   * those of its own. A word that has gone from the pages stays there, and is replaced by the next one that is left,
   * which fits as well.
   */
  #eraseSeparators(erased: ReadonlySet<string>): void {
    // Makes FTS5 write what it has in memory.
    this.#connection.exec('SAVEPOINT flush');
    this.#connection.exec('RELEASE flush');
    const separators = this.#query(SEPARATORS).all(JSON.stringify([...erased]));
    for (const [segment, word] of separators) {
      const [next = null] = this.#query(NEXT_WORD).all(word ?? null)[0] ?? [];
      if (next === word) continue;
      // Behind the last word of all, whatever is greater will do.
      const replacement = next ?? AFTER_ALL;
      this.#query(REPLACE_SEPARATOR).run(replacement, segment ?? null, word ?? null);
    }
  }

  /** Moves what is in the log into the file, and leaves the log without a byte. */
  #emptyLog(): boolean {
    const [result] = this.#query('PRAGMA wal_checkpoint(TRUNCATE)').all();
    return result?.[0] === 0;
  }

  /** The first `limit` rows that have the words, in the order asked for. @throws UnusableIndexError */
  find(question: RowQuestion, isDescending: boolean, limit: number): FoundRows {
    return tellingDamage(() => {
      const lookedUp = this.#lookUp(question, isDescending, limit);
      if (lookedUp !== null) return lookedUp;
      const order = isDescending ? 'DESC' : 'ASC';
      const found = this.#hits('rowid', question, order, limit + 1).map(([row]) => Number(row));
      return { rows: found.slice(0, limit), isWhole: found.length <= limit };
    });
  }

  /** As `find`, in the words of each row that is wanted; null when they are too many or too long for that. */
  #lookUp({ terms, from, to, only }: RowQuestion, isDescending: boolean, limit: number): FoundRows | null {
    if (only === undefined || only.length > MOST_LOOKED_UP) return null;
    const getDoc = this.#query('SELECT words FROM docs WHERE row = ?');
    const wanted = [...only].filter(row => row >= from && row < to);
    if (isDescending) wanted.reverse();
    const rows: number[] = [];
    let bytes = 0;
    for (const row of wanted) {
      const packed = getDoc.all(row)[0]?.[0];
      if (!Buffer.isBuffer(packed)) continue;
      const words = unpack(packed);
      bytes += words.length;
      if (bytes > MOST_LOOKED_UP_BYTES) return null;
      if (!hasTerms(words.toString('utf8'), terms)) continue;
      if (rows.length === limit) return { rows, isWhole: false };
      rows.push(row);
    }
    return { rows, isWhole: true };
  }

  /** The newest `among` rows that have the words, best first, ties newest first. @throws UnusableIndexError */
  rank(question: RowQuestion, among: number): RankedRows {
    return tellingDamage(() => {
      const found = this.#hits(`rowid, ${SCORE}`, question, 'DESC', among + 1);
      const ranked = found
        .slice(0, among)
        .map(([row, score]) => ({ row: Number(row), score: Number(score) }))
        .sort((a, b) => a.score - b.score || b.row - a.row);
      return {
        rows: ranked.map(({ row }) => row),
        scores: ranked.map(({ score }) => score),
        isWhole: found.length <= among,
      };
    });
  }

  #hits(
    columns: string,
    { terms, from, to, only }: RowQuestion,
    order: 'ASC' | 'DESC',
    limit: number,
  ): readonly (readonly unknown[])[] {
    const isAmong = only === undefined ? '' : 'AND +rowid IN (SELECT value FROM json_each(?))';
    const query = this.#query(
      `SELECT ${columns} FROM words WHERE words MATCH ? AND rowid >= ? AND rowid < ? ${isAmong} ORDER BY rowid ${order} LIMIT ?`,
    );
    if (only === undefined) return query.all(matchOf(terms), from, to, limit);
    // To seek a row in the hits takes thousands of times as long as to walk over one.
    const [first = to, last = from] = [only[0], only.at(-1)];
    const range = [Math.max(from, first), Math.min(to, last + 1)] as const;
    return query.all(matchOf(terms), ...range, JSON.stringify([...only]), limit);
  }

  /** Rows that it holds, in ascending order. */
  rows(): readonly number[] {
    return this.#query('SELECT row FROM docs ORDER BY row')
      .all()
      .map(([row]) => Number(row));
  }

  close(): void {
    this.#connection.close();
  }

  #meta(): Record<string, unknown> {
    return Object.fromEntries(
      this.#query('SELECT name, value FROM meta')
        .all()
        .map(([name, value]) => [name, value]),
    );
  }

  #query(sql: string): Statement {
    const known = this.#queries.get(sql);
    if (known !== undefined) return known;
    const statement = this.#connection.prepare(sql);
    this.#queries.set(sql, statement);
    return statement;
  }

  #prepared(): Statements {
    const prepare = (sql: string): Statement => this.#connection.prepare(sql);
    this.#statements ??= {
      insert: prepare('INSERT INTO words(rowid, subject, body) VALUES (?, ?, ?)'),
      remove: prepare("INSERT INTO words(words, rowid, subject, body) VALUES ('delete', ?, ?, ?)"),
      getDoc: prepare('SELECT words FROM docs WHERE row = ?'),
      putDoc: prepare('INSERT INTO docs(row, words) VALUES (?, ?)'),
      removeDoc: prepare('DELETE FROM docs WHERE row = ?'),
      putMeta: prepare('UPDATE meta SET value = ? WHERE name = ?'),
    };
    return this.#statements;
  }
}

/** Words that stand whole in the index over the pages of each segment, where they have a zero before them. */
const SEPARATORS = `
  WITH RECURSIVE segments(segid) AS (
    SELECT min(segid) FROM words_idx
    UNION ALL
    SELECT (SELECT min(segid) FROM words_idx AS i WHERE i.segid > s.segid) FROM segments AS s WHERE s.segid NOT NULL
  )
  SELECT i.segid, j.value FROM json_each(?) AS j CROSS JOIN segments AS s
  JOIN words_idx AS i ON i.segid = s.segid AND i.term = CAST('0' || j.value AS BLOB)`;
const NEXT_WORD = 'SELECT term FROM instances WHERE term >= ? LIMIT 1';
const REPLACE_SEPARATOR = `
  UPDATE words_idx SET term = CAST('0' || ? AS BLOB) WHERE segid = ? AND term = CAST('0' || ? AS BLOB)`;
/** No word begins with this character. */
const AFTER_ALL = '\u{10ffff}';

/** In KiB, negative as SQLite wants it. */
const FOR_WRITING = [
  'journal_mode = WAL',
  'synchronous = FULL',
  'secure_delete = ON',
  'cache_size = -2048',
  'temp_store = MEMORY',
];
const FOR_READING = ['query_only = ON', 'cache_size = -1024', 'temp_store = MEMORY'];

/**
 * So many wanted rows have their words read, some ten microseconds each. FTS5 walks over all its hits between the first
 * and the last of them: a twentieth of a microsecond for each and each word.
 */
const MOST_LOOKED_UP = 128;
/** Of their words, unpacked: some ten microseconds a KiB, and a row may have megabytes. */
const MOST_LOOKED_UP_BYTES = 2 ** 20;

/** Each term as a quoted string: in it nothing has a meaning of its own. No word has a quote in it. */
function matchOf(terms: readonly SearchTerm[]): string {
  return terms.map(({ words, isPrefix }) => `"${words.join(' ')}"${isPrefix ? '*' : ''}`).join(' AND ');
}

const PLAIN = 0;
const DEFLATED = 1;
/** What zlib takes for itself costs more than a letter does: little memory, a quarter of the time. */
const DEFLATE = { level: 1, windowBits: 12, memLevel: 4 } as const;
const MIN_CHUNK = 1024;
const MAX_CHUNK = 64 * 1024;
/** Shorter words gain nothing. */
const DEFLATED_FROM = 512;

function pack(words: Uint8Array): Buffer {
  if (words.length < DEFLATED_FROM) return Buffer.concat([Buffer.of(PLAIN), words]);
  const chunkSize = Math.min(Math.max(MIN_CHUNK, words.length), MAX_CHUNK);
  return Buffer.concat([Buffer.of(DEFLATED), deflateRawSync(words, { ...DEFLATE, chunkSize })]);
}

function unpack(packed: Buffer): Buffer {
  const bytes = packed.subarray(1);
  return packed[0] === DEFLATED ? inflateRawSync(bytes) : bytes;
}

/** Whatever SQLite finds wrong with a file means that it is damaged, unless the disk is full or somebody holds it. */
function tellingDamage<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof UnusableIndexError || isPassing(error)) throw error;
    throw new UnusableIndexError(`its file is damaged: ${reasonOf(error)}`, { cause: error });
  }
}

function inodeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? null;
}

/** Removes the file of an index and what belongs to it. */
export function removeIndex(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${suffix}`, { force: true });
}
