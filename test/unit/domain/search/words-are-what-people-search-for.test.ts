import fc from 'fast-check';
import t from 'tap';
import { hasTerms, joinWords, messageWordsAtOnce } from '../../../../src/domain/message-words.js';
import {
  MAX_INDEXED_UNITS,
  MAX_WORD_UNITS,
  parseSearch,
  wordsOf,
} from '../../../../src/domain/search-words.js';
import { fits, splitWords } from '../../../support/search/naive-words.js';

const finds = (text: string, query: string) =>
  hasTerms(joinWords({ subject: [], body: wordsOf(text) }), parseSearch(query));

t.test('case, accents and widths make no difference', async t => {
  for (const [text, query] of [
    ['Die STRASSE', 'straße'],
    ['Straße', 'STRASSE'],
    ['Crème brûlée', 'creme brulee'],
    ['cafe\u0301', 'café'],
    ['ŻÓŁĆ', 'zolc'],
    ['ΟΔΥΣΣΕΥΣ', 'οδυσσευς'],
    ['İstanbul', 'istanbul'],
    ['ＡＢＣ１２', 'abc12'],
    ['ｱｶﾞ', 'アガ'],
    ['oﬃce', 'office'],
    ['in\u00advoice', 'invoice'],
    ['مُحَمَّد', 'محمد'],
    ['שָׁלוֹם', 'שלום'],
  ] as const) {
    t.ok(finds(text, query), `${text}: ${query}`);
  }
  t.notOk(finds('が', 'か'), 'a voiced kana is another one');
});

t.test('scripts without spaces are found by any part, and not by what only looks like one', async t => {
  const text = '第3回目の支払いについて 東京都の請求書 한국어검색 ภาษาไทย';
  for (const query of [
    '支払',
    '支払い',
    '払',
    '請求書',
    '書',
    '東京',
    '京都',
    '第3回',
    '국어',
    '검',
    'ษาไ',
    'ย',
  ]) {
    t.ok(finds(text, query), query);
  }
  for (const query of ['払支', '東都', '請書', '어검색한', '第 回'])
    t.notOk(finds(text, `"${query}"`), query);
  t.notOk(finds('第一人 abc', '"第一 abc"'), 'a word of a phrase ends where it ends');
});

t.test('words stand where letters and digits stand', async t => {
  t.strictSame(wordsOf("Don't mail a.b@example.org: order_id=17-3"), [
    ...['don', 't', 'mail', 'a', 'b', 'example', 'org', 'order', 'id', '17', '3'],
  ]);
  t.ok(finds('order_id=17-3', 'order_id'));
  t.notOk(finds('order of id', 'order_id'), 'what is written together stands together');
  t.strictSame(wordsOf('a\ud800b'), ['a', 'b']);
  const long = 'x'.repeat(MAX_WORD_UNITS);
  t.ok(finds(`${long}yz`, `${long}yz`));
  t.ok(finds(`${long}yz`, `${long}y`), 'of a very long word the beginning counts');
});

t.test('every term has to be in a field, a phrase in one', async t => {
  const joined = joinWords({
    subject: wordsOf('Invoice for March'),
    body: wordsOf('Please pay the amount due'),
  });
  for (const query of ['invoice pay', '"for march" "amount due"', 'MARCH', '& invoice']) {
    t.ok(hasTerms(joined, parseSearch(query)), query);
  }
  for (const query of ['invoice april', '"march please"', '"due amount"', 'invo', 'invoice OR april']) {
    t.notOk(hasTerms(joined, parseSearch(query)), query);
  }
});

t.test('a query that means nothing is refused in plain words', async t => {
  const refusal = (query: string) => {
    try {
      parseSearch(query);
      return null;
    } catch (error) {
      return (error as { failure: { code: string; message: string } }).failure;
    }
  };
  t.match(refusal('"open'), { code: 'invalid_search', message: /not closed/ });
  t.match(refusal('a "b" "'), { code: 'invalid_search', message: /not closed/ });
  t.match(refusal('a '.repeat(17)), { code: 'invalid_search', message: /17 terms; at most 16/ });
  for (const query of ['& - !', '""', ' ', '\ud800']) {
    t.match(refusal(query), { code: 'invalid_search', message: /no letter and no digit/ }, query);
  }
  t.equal(refusal('a '.repeat(16)), null);
  t.strictSame(parseSearch('or"not"*'), [
    { words: ['or'], isPrefix: false },
    { words: ['not'], isPrefix: false },
  ]);
});

t.test('a message is found by its subject and its text, by its HTML only without one', async t => {
  const words = messageWordsAtOnce({ subject: 'Über uns', text: 'plain', html: '<p>fancy' });
  t.strictSame(words, { subject: ['uber', 'uns'], body: ['plain'] });
  const html = messageWordsAtOnce({
    subject: null,
    text: ' \n',
    html: '<p>fan<b>cy</b><script>evil()</script>',
  });
  t.strictSame(html, { subject: [], body: ['fancy'] });
  t.strictSame(splitWords(joinWords(words)), words);
  t.strictSame(splitWords(joinWords({ subject: [], body: [] })), { subject: [], body: [] });
});

t.test('a long text gives the words that it gives in one piece, up to the bound', async t => {
  const letters = ['Wort, ', '東京都。', 'x'.repeat(300), ' ', 'été; ', '\n', 'ก', '\u0301'];
  let text = '';
  for (let at = 0; text.length < MAX_INDEXED_UNITS + 100; at = (at * 7 + 3) % 1009) text += letters[at % 8];
  const { body } = messageWordsAtOnce({ subject: null, text, html: null });
  t.strictSame(body, wordsOf(text.slice(0, MAX_INDEXED_UNITS)));
  const end = `${'a '.repeat(MAX_INDEXED_UNITS / 2)}needle`;
  t.notOk(messageWordsAtOnce({ subject: null, text: end, html: null }).body.includes('needle'));
});

t.test('joined words have what their words have, one by one', async () => {
  const word = fc.constantFrom('a', 'ab', 'abc', 'b', 'ba', '東京', '京', '京都');
  const words = fc.array(word, { maxLength: 6 });
  const term = fc.record({ words: fc.array(word, { minLength: 1, maxLength: 3 }), isPrefix: fc.boolean() });
  const terms = fc.array(term, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(words, words, terms, (subject, body, asked) => {
      const found = hasTerms(joinWords({ subject, body }), asked);
      if (found !== fits([subject, body], asked)) throw new Error(`${found}`);
    }),
    { numRuns: 3_000 },
  );
});
