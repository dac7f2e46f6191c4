import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { joinWords, messageWordsAtOnce } from '../../../src/domain/message-words.js';
import { parseSearch } from '../../../src/domain/search-words.js';
import { AccountIndex } from '../../../src/search/account-index.js';
import { Connection } from '../../../src/search/sqlite.js';
import { fits, splitWords } from '../../support/search/naive-words.js';
import { dataDirectory } from '../store/with-store.js';

const WORDS = [
  'invoice',
  'March',
  'the',
  'of',
  'an',
  'Straße',
  'strasse',
  '東京',
  '東京都',
  '京',
  '한국어',
  'é',
  'x',
  'ภาษา',
];
const word = fc.constantFrom(...WORDS);
const text = fc.array(fc.tuple(word, fc.constantFrom(' ', ', ', '\n', '-', '')), { maxLength: 12 });
const written = text.map(parts => parts.flat().join(''));
const term = fc.oneof(
  word,
  fc.array(word, { minLength: 1, maxLength: 3 }).map(words => `"${words.join(' ')}"`),
  fc.constantFrom(
    '東',
    '都',
    '국',
    '"of the"',
    'OR',
    'NOT',
    '*',
    'x*',
    '^x',
    '{subject}:x',
    'NEAR(x, 2)',
    "x'y",
  ),
);
const query = fc.array(term, { minLength: 1, maxLength: 3 }).map(terms => terms.join(' '));
const letter = fc.record({ subject: written, text: written, html: fc.constant(null) });
const change = fc.record({ seq: fc.integer({ min: 1, max: 20 }), letter: fc.option(letter, { nil: null }) });

t.test('whatever is put in and taken out, the index finds what fits the words', async t => {
  const path = join(dataDirectory(t), 'x.index');
  let number = 0;
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 60 }),
      fc.array(query, { minLength: 1, maxLength: 8 }),
      (changes, queries) => {
        const index = AccountIndex.create(path, 'account');
        const held = new Map<number, string>();
        for (let at = 0; at < changes.length; at += 7) {
          const batch = changes.slice(at, at + 7).map(({ seq, letter: put }) => {
            const joined = put === null ? null : joinWords(messageWordsAtOnce(put));
            if (joined === null) held.delete(seq);
            else held.set(seq, joined);
            return { row: seq, words: joined === null ? null : Buffer.from(joined) };
          });
          number += 1;
          const marks = { from: number - 1, to: number };
          if (!index.apply(batch, marks) || !index.apply(batch, marks)) throw new Error('not erased');
        }
        const rows = [...held.keys()].sort((a, b) => a - b);
        if (index.rows().join() !== rows.join()) throw new Error(`rows ${index.rows()}, not ${rows}`);
        for (const one of queries) {
          let terms: ReturnType<typeof parseSearch>;
          try {
            terms = parseSearch(one);
          } catch {
            continue;
          }
          const expected = rows.filter(row => {
            const { subject, body } = splitWords(held.get(row) ?? '\n');
            return fits([subject, body], terms);
          });
          const asked = { terms, from: 0, to: 100 };
          const { rows: oldest } = index.find(asked, false, 100);
          if (oldest.join() !== expected.join()) throw new Error(`${one}: ${oldest}, not ${expected}`);
          const newest = index.find(asked, true, 3);
          const three = [...expected].reverse().slice(0, 3);
          if (newest.rows.join() !== three.join())
            throw new Error(`${one}: newest ${newest.rows}, not ${three}`);
          if (newest.isWhole !== expected.length <= 3) throw new Error(`${one}: whole ${newest.isWhole}`);
          const only = rows.filter(row => row % 2 === 0);
          const some = index.find({ ...asked, only }, false, 100).rows;
          if (some.join() !== expected.filter(row => row % 2 === 0).join())
            throw new Error(`${one}: only ${some}`);
          const ranked = index.rank(asked, 100);
          if ([...ranked.rows].sort((a, b) => a - b).join() !== expected.join())
            throw new Error(`${one}: ranked`);
          const isSorted = ranked.scores.every(
            (score, at) => at === 0 || score >= (ranked.scores[at - 1] ?? score),
          );
          if (!isSorted) throw new Error(`${one}: scores ${ranked.scores}`);
        }
        index.close();
      },
    ),
    { numRuns: 60 },
  );
});

t.test('few letters are looked up one by one, and long ones never more than a MiB of them', async t => {
  const path = join(dataDirectory(t), 'x.index');
  const writer = AccountIndex.create(path, 'account');
  const letter = (text: string) =>
    Buffer.from(joinWords(messageWordsAtOnce({ subject: 'x', text, html: null })));
  // It packs to a hundredth.
  const long = letter(`東京 ${'京都'.repeat(20_000)}`);
  const rows = Array.from({ length: 8 }, (_, row) => row);
  writer.apply(
    rows.map(row => ({ row, words: long })),
    { from: 0, to: 1 },
  );
  writer.apply([{ row: 8, words: letter('東京') }], { from: 1, to: 2 });
  writer.close();
  // The words that are kept of the last one are not those in the index: it is seen which were read.
  const connection = new Connection(path);
  connection.prepare('UPDATE docs SET words = ? WHERE row = 8').run(Buffer.from('\0x\nother'));
  connection.close();
  const index = AccountIndex.open(path, 'account', 'read');
  const asked = { terms: parseSearch('東京'), from: 0, to: 100 };
  t.strictSame(index.find({ ...asked, only: [0, 8] }, false, 100).rows, [0], 'in the words that are kept');
  t.strictSame(index.find({ ...asked, only: [...rows, 8] }, false, 100).rows, [...rows, 8], 'in the index');
  index.close();
});

t.test('many numbers are asked for at once', async t => {
  const index = AccountIndex.create(join(dataDirectory(t), 'x.index'), 'account');
  const words = Buffer.from('a\nb');
  index.apply(
    Array.from({ length: 500 }, (_, row) => ({ row, words })),
    { from: 0, to: 1 },
  );
  const only = Array.from({ length: 200 }, (_, at) => at * 2);
  const asked = { terms: parseSearch('b'), from: 0, to: 1000, only };
  t.strictSame(index.find(asked, true, 3), { rows: [398, 396, 394], isWhole: false });
  t.strictSame(index.find(asked, false, 1000), { rows: only, isWhole: true });
  const few = { ...asked, from: 4, only: [2, 4, 9, 498, 499, 777] };
  t.strictSame(index.find(few, true, 2), { rows: [499, 498], isWhole: false }, 'few are looked up');
  t.strictSame(index.find(few, false, 4), { rows: [4, 9, 498, 499], isWhole: true });
  t.strictSame(index.find({ ...few, terms: parseSearch('"a b"') }, true, 2), { rows: [], isWhole: true });
  t.equal(index.rank(asked, 50).rows.length, 50);
  index.close();
});

t.test('whole numbers are bound as integers: FTS5 takes no others for bounds of rows', async t => {
  const connection = new Connection(join(dataDirectory(t), 'x.index'));
  const kinds = connection.prepare('SELECT typeof(?), typeof(?), typeof(?), typeof(?)');
  t.strictSame(kinds.all(7, 2 ** 53 - 1, 0.5, 'x'), [['integer', 'integer', 'real', 'text']]);
  t.strictSame(connection.prepare('SELECT ?').all(2 ** 53 - 1), [[2 ** 53 - 1]]);
  connection.close();
});
