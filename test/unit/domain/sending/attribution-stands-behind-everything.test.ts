import t from 'tap';
import { attributeHtml, attributeText, attributionLine } from '../../../../src/domain/text.js';
import { atOnce } from '../../../support/at-once.js';

const shown = (html: string, line: string): string => atOnce(attributeHtml(html, line));

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
    t.equal(shown(html, line), `${before}<p>Sent via Postern</p>\n${after}`, html);
  }
});

t.test('HTML without one gets it at its end', async t => {
  for (const html of ['<p>Hi</p>', '', '<bodybuilder>', '</bodyguard>', 'x</body', '</ body>']) {
    t.equal(shown(html, line), `${html}<p>Sent via Postern</p>\n`, html);
  }
});

t.test('a closing tag that is none for a browser is not the place', async t => {
  for (const html of [
    '<body>Hi</body><!-- </body> -->',
    '<body>Hi</body><script>"</body>"</script>',
    '<body>Hi</body><p title="</body>">',
    '<body>Hi</body><textarea></body></textarea>',
    '<body>Hi</body><script><!--<script></script></body></script>-->',
  ]) {
    const at = html.indexOf('</body>');
    t.equal(shown(html, line), `${html.slice(0, at)}<p>Sent via Postern</p>\n${html.slice(at)}`, html);
  }
});

t.test('what would hide it is closed before it', async t => {
  for (const [html, closing] of [
    ['Hi<!-- ', '-->'],
    ['Hi<!-- </body>', '-->'],
    ['Hi<script>', '</script>'],
    ['Hi<script></script\u00a0>', '</script>'],
    ['Hi<script><!--<script></script>', '</script>'],
    ['Hi<script><!--<script>', '--></script>'],
    ['Hi<style>p { }', '</style>'],
    ['Hi<TITLE>', '</title>'],
    ['Hi<textarea></body>', '</textarea>'],
    ['Hi<xmp>', '</xmp>'],
    ['Hi<iframe>', '</iframe>'],
    ['Hi<a title="', '">'],
    ["Hi<a title='</body>", "'>"],
    ['Hi<a ="></a><a b="', '">'],
    ['Hi<a href=\u00a0"><a b="', '">'],
    ['Hi<a title', '>'],
    ['Hi<script src=x', '></script>'],
    ['Hi<script src="', '"></script>'],
    ['Hi<select><option>', '</select>'],
    ['Hi<template><svg></template>', '</svg></template>'],
    ['Hi<select></p ', '></select>'],
    ['Hi<select title="', '"></select>'],
  ] as const) {
    t.equal(shown(html, line), `${html}${closing}<p>Sent via Postern</p>\n`, html);
  }
  t.equal(shown('<select></body></html>', line), '<select></select><p>Sent via Postern</p>\n</body></html>');
  t.equal(shown('Hi<plaintext>a</body>', line), 'Hi<p>Sent via Postern</p>\n<plaintext>a</body>');
  t.equal(
    shown('<object>Hi<plaintext a="', line),
    '<object>Hi</object><p>Sent via Postern</p>\n<plaintext a="',
  );
});

t.test('before what is in itself a hundred times, however often', async t => {
  for (const times of [101, 500_000]) {
    const html = `Hi${'<select>'.repeat(times)}`;
    t.equal(shown(html, line).slice(0, 30), 'Hi<p>Sent via Postern</p>\n<sel', String(times));
  }
});

t.test('HTML in order gets nothing but the line', async t => {
  const html =
    '<!DOCTYPE html><title>a</title><style>b</style><!-- c --><select><option>d</select><svg></svg><p x="y">';
  t.equal(shown(html, line), `${html}<p>Sent via Postern</p>\n`);
});

t.test('a name is text, whatever it is made of', async t => {
  t.equal(shown('', attributionLine('A <b>&"\' c')), '<p>Sent via A &lt;b&gt;&amp;&quot;&#39; c</p>\n');
});

t.test('megabytes of what is almost the tag cost no more than their length', async t => {
  for (const piece of ['</bod', '</', '</body', '</body ', '<!', '</p x=1']) {
    const html = piece.repeat(300_000);
    t.equal(shown(html, line).indexOf('<p>'), html.length, piece);
  }
});

t.test('however long a construct is, it is read to its end', async t => {
  const many = (piece: string): string => piece.repeat(Math.ceil(200_000 / piece.length));
  const cases = [
    `<p ${many('b=c ')}>`,
    `<p ${many('b ')}a="</body>">`,
    `<script>${many('<!-->')}</body></script>`,
    `<script><!--${many('<script ></script >')}</body>--></script>`,
    many('<'),
    many('< '),
    `<${many('a')}>`,
  ];
  for (const before of cases) {
    const html = `${before}</body></html>`;
    t.equal(shown(html, line), `${before}<p>${line}</p>\n</body></html>`, before.slice(0, 40));
  }
});
