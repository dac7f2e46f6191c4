import fc from 'fast-check';
import t from 'tap';
import { excerptOf } from '../../../../src/domain/excerpts/excerpt.js';
import { previewOf } from '../../../../src/domain/excerpts/preview.js';
import { atOnce } from '../../../../src/lib/slices.js';

t.test('white space becomes single spaces, and what pads newsletters goes with it', async t => {
  const text = '  One\r\n\n two\t\u00a0three\u2003\n';
  t.strictSame(previewOf(text, 'text'), { text: 'One two three', truncated: false, source: 'text' });
  const padded = `Big sale${' \u034f\u200c \u00ad'.repeat(200)}\nHello`;
  t.equal(previewOf(padded, 'text').text, 'Big sale Hello');
  const family = '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}';
  t.equal(
    previewOf(`${family} می\u200cخواهم`, 'text').text,
    `${family} می\u200cخواهم`,
    'joiners within words stay',
  );
  t.equal(previewOf('a\u202eb', 'text').text, 'ab', 'nothing turns the order of what follows');
});

t.test('it is cut at the end of a word, if one is near', async t => {
  const words = 'word '.repeat(100);
  const { text, truncated } = previewOf(words, 'text');
  t.equal(text, words.slice(0, 299));
  t.ok(truncated);
  t.strictSame(previewOf('x'.repeat(300), 'text'), {
    text: 'x'.repeat(300),
    truncated: false,
    source: 'text',
  });
  t.strictSame(previewOf('x'.repeat(301), 'text'), {
    text: 'x'.repeat(300),
    truncated: true,
    source: 'text',
  });
  t.equal(previewOf(`${'x'.repeat(300)} end`, 'text').text, 'x'.repeat(300), 'the word ends with the line');
  t.equal(previewOf(`a ${'x'.repeat(400)}`, 'text').text.length, 300, 'no word ends near');
  t.equal([...previewOf('\u{1f600}'.repeat(400), 'text').text].length, 300, 'characters count, not units');
  t.equal(
    previewOf(`${'x'.repeat(299)}e\u0301 and more`, 'text').text,
    'x'.repeat(299),
    'an accent stays with its letter',
  );
});

t.test('of any text it is a bounded line, the same each time', async () => {
  const parts = fc.constantFrom(
    'a',
    'word',
    ' ',
    '\n',
    '\u200b',
    '\u{1f468}\u200d',
    '\ud800',
    'é',
    '\u0301',
    '> ',
    '日本',
  );
  const texts = fc.array(parts, { maxLength: 900 }).map(list => list.join(''));
  fc.assert(
    fc.property(texts, text => {
      const { preview } = atOnce(excerptOf({ subject: null, text, html: null }));
      const again = atOnce(excerptOf({ subject: null, text, html: null })).preview;
      return (
        [...preview.text].length <= 300 &&
        !/\s\s|[\n\t]|^\s|\s$/.test(preview.text) &&
        JSON.stringify(preview) === JSON.stringify(again)
      );
    }),
  );
});

t.test('where nothing is new it is empty', async t => {
  t.strictSame(atOnce(excerptOf({ subject: null, text: '> only this', html: null })).preview, {
    text: '',
    truncated: false,
    source: 'reply_text',
  });
});
