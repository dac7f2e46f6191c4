import t from 'tap';
import { printable, printableText, renderFields, renderTable } from '../../../src/cli/output.js';

t.test('a value cannot move the cursor, end its line or turn the direction of text', async t => {
  t.equal(printable('a\u001b[31mred\u0007'), 'a\\x1b[31mred\\x07');
  t.equal(printable('one\r\ntwo\tthree'), 'one\\x0d\\x0atwo\\x09three');
  t.equal(printable('invoice\u202Efdp.exe\u2028'), 'invoice\\u{202e}fdp.exe\\u{2028}');
  t.equal(printable('\u009b2J'), '\\x9b2J', 'nor the eight-bit control sequences');
});

t.test('what is no control character stays as it is', async t => {
  t.equal(printable('Grüße, 日本 👋'), 'Grüße, 日本 👋');
});

t.test('a text keeps its lines and tabs, and nothing else', async t => {
  t.equal(printableText('one\r\ntwo\tthree\r\u0000'), 'one\ntwo\tthree\\x0d\\x00');
});

t.test('fields and tables escape', async t => {
  t.equal(renderFields({ name: 'a\nb' }), 'name  a\\x0ab\n');
  t.equal(renderTable([{ name: 'a\nb' }], ['name'], ''), 'NAME\na\\x0ab\n');
});
