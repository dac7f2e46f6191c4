import t from 'tap';
import { textField } from '../../../../src/store/mailbox/folders.js';

const summary = (value: unknown) => Buffer.from(JSON.stringify({ id: 'x', subject: value, labels: [] }));

t.test('the text is what was written, whatever it holds', async t => {
  for (const text of [
    '',
    'plain',
    'say "hi"',
    'ends in \\',
    '\\"',
    'grüß 漢字 😀',
    '\u0000\n\u2028',
    '"subject":"other"',
  ]) {
    t.equal(textField(summary(text), 'subject'), text);
  }
});

t.test('a field that is absent or null has none', async t => {
  t.equal(textField(summary(null), 'subject'), null);
  t.equal(textField(summary('a'), 'title'), null);
});

t.test('damage has none, and the search for its end ends', async t => {
  const whole = Buffer.from('{"id":"x","subject":"a \\"long\\" one"');
  const start = whole.indexOf('"subject":') + '"subject":'.length;
  for (let end = start; end < whole.length; end++) {
    t.equal(textField(whole.subarray(0, end), 'subject'), null, `cut off after ${end} bytes`);
  }
  t.equal(
    textField(Buffer.from('{"subject":"a\\qb"}'), 'subject'),
    null,
    'an escape that JSON does not know',
  );
});
