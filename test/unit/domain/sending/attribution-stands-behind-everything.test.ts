import t from 'tap';
import { attributeHtml, attributeText, attributionLine } from '../../../../src/domain/text.js';

const line = attributionLine('Postern');

t.test('text gets a blank line, then the line', async t => {
  t.equal(line, 'Sent via Postern');
  t.equal(attributeText('Hello', line), 'Hello\n\nSent via Postern');
  t.equal(attributeText('Hello\n', line), 'Hello\n\nSent via Postern');
  t.equal(attributeText('Hello\r\n> quoted\r\n', line), 'Hello\r\n> quoted\r\n\nSent via Postern');
});

t.test('HTML gets a paragraph before the last closing tag of the body', async t => {
  const cases = [
    ['<html><body><p>Hi</p></body></html>', '<html><body><p>Hi</p>', '</body></html>'],
    ['<BODY>Hi</BODY >', '<BODY>Hi', '</BODY >'],
    ['a</body><body>b</body\n>c', 'a</body><body>b', '</body\n>c'],
    ['</body>', '', '</body>'],
    ['a</body></bodyguard>', 'a', '</body></bodyguard>'],
  ] as const;
  for (const [html, before, after] of cases) {
    t.equal(attributeHtml(html, line), `${before}<p>Sent via Postern</p>\n${after}`, html);
  }
});

t.test('HTML without one gets it at its end', async t => {
  for (const html of ['<p>Hi</p>', '', '<bodybuilder>', '</bodyguard>', 'x</body', '</ body>']) {
    t.equal(attributeHtml(html, line), `${html}<p>Sent via Postern</p>\n`, html);
  }
});

t.test('a name is text, whatever it is made of', async t => {
  t.equal(
    attributeHtml('', attributionLine('A <b>&"\' c')),
    '<p>Sent via A &lt;b&gt;&amp;&quot;&#39; c</p>\n',
  );
});

t.test('megabytes of what is almost the tag cost no more than their length', async t => {
  for (const piece of ['</bod', '</', '</body', '</body ']) {
    const html = piece.repeat(300_000);
    const expected = piece === '</body ' ? html.length - piece.length : html.length;
    t.equal(attributeHtml(html, line).indexOf('<p>'), expected, piece);
  }
});
