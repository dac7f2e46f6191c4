import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseSearch } from '../../../src/domain/search-words.js';
import { AccountIndex } from '../../../src/search/account-index.js';
import { dataDirectory } from '../store/with-store.js';

const LETTERS = 1_500;
const PER_BATCH = 60;
const COMMON = Array.from({ length: 3_000 }, (_, at) => `w${(at * 7919).toString(36)}`);

/** Frequent words are much more frequent than others, as in real mail. */
const common = () => COMMON[Math.floor(COMMON.length ** (randomInt(1_000_000) / 1_000_000)) - 1] ?? 'w0';
/** Words that occur once; some of them next to each other in the alphabet, so that pages begin and end with them. */
const unique = (letter: number) => {
  const number = String(letter).padStart(5, '0');
  return [`once${number}`, `z${number}once`, `7${number}`];
};

t.setTimeout(120_000);

t.test('words that occurred once are in no file of the index once their message is gone', async t => {
  const path = join(dataDirectory(t), 'x.index');
  const index = AccountIndex.create(path, 'account');
  let mark = 0;
  for (let at = 0; at < LETTERS; at += PER_BATCH) {
    const rows = Array.from({ length: PER_BATCH }, (_, place) => {
      const body = [...Array.from({ length: 60 }, common), ...unique(at + place)];
      return { row: at + place, words: Buffer.from(`subject ${common()}\n${body.join(' ')}`) };
    });
    index.apply(rows, { from: mark, to: ++mark });
  }
  const gone = new Set(Array.from({ length: LETTERS / 3 }, () => randomInt(LETTERS)));
  const rows = [...gone];
  for (let at = 0; at < rows.length; at += PER_BATCH) {
    const batch = rows.slice(at, at + PER_BATCH).map(row => ({ row, words: null }));
    t.ok(index.apply(batch, { from: mark, to: ++mark }), 'the log is empty');
  }
  const files = ['', '-wal'].map(suffix => readFileSync(`${path}${suffix}`));
  const inFile = (word: string) => files.some(bytes => bytes.includes(word));
  // Packed texts and pages that share beginnings of words hide words, so that what is there is asked of the index.
  const asked = (word: string) =>
    index.find({ terms: parseSearch(word), from: 0, to: LETTERS }, true, 10).rows;
  const left = rows.flatMap(unique).filter(word => inFile(word) || asked(word).length > 0);
  t.strictSame(left, []);
  const kept = Array.from({ length: LETTERS }, (_, letter) => letter)
    .filter(letter => !gone.has(letter))
    .slice(0, 100);
  for (const letter of kept) {
    for (const word of unique(letter)) if (!asked(word).includes(letter)) t.fail(`${word} is lost`);
  }
  index.close();
});
