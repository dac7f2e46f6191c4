import fc from 'fast-check';
import t from 'tap';
import { decodedPieces } from '../../../../src/domain/html/character-references.js';
import { htmlToText as htmlToTextInSteps } from '../../../../src/domain/html/html-to-text.js';
import { atOnce } from '../../../support/at-once.js';

const htmlToText = (html: string) => atOnce(htmlToTextInSteps(html));
const decodeEntities = (text: string) => [...decodedPieces(text)].join('');

t.test('blocks stand on lines of their own, with one blank line between paragraphs at most', async t => {
  for (const [html, text] of [
    ['<p>One</p><p>Two</p>', 'One\n\nTwo'],
    ['<div>One</div><div>Two<br>Three<br><br><br>Four</div>', 'One\nTwo\nThree\n\nFour'],
    ['<ul><li>a<li><p>b</p></ul>c', '- a\n- b\n\nc'],
    ['<table><tr><td>a</td><td>b</td></tr><tr><th>c</th></tr></table>', 'a b\nc'],
    ['a  \n\t b<b>c</b> <i> d</i>', 'a bc d'],
    ['<p> </p><p>&nbsp;</p><p>a</p><p>&nbsp;</p><p>b</p>', 'a\n\nb'],
    ['<pre>\n  x = 1\r\n\n\n  y\t= 2 \n</pre>z', '  x = 1\n\n  y\t= 2\n\nz'],
    ['', ''],
  ] as const) {
    t.equal(htmlToText(html), text, html);
  }
});

t.test('what is not shown is not text', async t => {
  for (const html of [
    '<html><head><title>t</title><style>p{}</style></head><body>a b</body></html>',
    '<SCRIPT>if (1 < 2) "</p>"</SCRIPT\n>a b<script>never closed a</p>',
    'a <!-- <p>c</p> -- > --> b<!-- never closed',
    'a <!-->b<!--->',
    '<!DOCTYPE html><?xml?><![if !mso]>a b<![endif]></0>',
    '<p title="a>b" data=\'>\' x = ">">a b</p class=">">',
    'a<template ">"> b',
  ]) {
    t.equal(htmlToText(html).replace('">', '').trim(), 'a b', html);
  }
});

t.test('what is no markup is text', async t => {
  for (const [html, text] of [
    ['1 < 2 & 3 > 2', '1 < 2 & 3 > 2'],
    ['a <b', 'a <b'],
    ['<3 <', '<3 <'],
    ['<p "never closed>a', 'a'],
    ['<p x="never closed>a', 'a'],
  ] as const) {
    t.equal(htmlToText(html), text, html);
  }
});

t.test('character references are characters', async t => {
  for (const [written, text] of [
    ['&lt;b&gt; &amp;amp; &quot;&apos;', '<b> &amp; "\''],
    [
      '&eacute;&Eacute;&szlig;&yuml;&nbsp;&euro;&hellip;&ndash;&thinsp;&zwnj;&diams;',
      'éÉßÿ\u00a0€…–\u2009\u200c♦',
    ],
    ['&copy 2026 &copy', '© 2026 ©'],
    ['&euro 5 &unknown; &; & &#; &#x; &AMP;', '&euro 5 &unknown; &; & &#; &#x; &'],
    ['&#65;&#x42;&#X43&#128512;&#0000000000000000000065;', 'ABC😀A'],
    ['&#128;&#153;&#x81;', '€™\u0081'],
    ['&#0;&#xd800;&#x110000;&#99999999999999999999999;', '\ufffd\ufffd\ufffd\ufffd'],
  ] as const) {
    t.equal(decodeEntities(written), text, written);
  }
  t.equal(htmlToText('a&#27;[31mb&#13;&#7;c'), 'a[31mb c', 'controls do not come through');
});

const HIDDEN = [
  '<!-- x > y -->',
  '<style>p < q</style>',
  '<script>"<p>"</script>',
  '<!x>',
  '<title>&lt;</title>',
];
const word = fc.string({
  unit: fc.constantFrom('a', 'é', '&', '<', '>', '"', '😀'),
  minLength: 1,
  maxLength: 6,
});
const hidden = fc.constantFrom('', '', ...HIDDEN);

/** Generated HTML, and the words a reader would see in it. */
interface Shown {
  readonly html: string;
  readonly words: readonly string[];
}

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, char => ({ '&': '&amp;', '<': '&#60;', '>': '>', '"': '&#x22;' })[char] ?? char);
const paragraph: fc.Arbitrary<Shown> = fc
  .tuple(fc.constantFrom('p', 'div', 'H1', 'td', 'li', 'blockquote', 'pre'), fc.array(word), hidden)
  .map(([name, words, between]) => ({
    html: `<${name} a="<p>" b='>' c>${between}${words.map(escaped).join('<b> </b>')}${between}</${name}>`,
    words,
  }));

t.test('for any blocks the words come through, in their order', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.array(paragraph), blocks => {
        const text = htmlToText(blocks.map(({ html }) => html).join('\n'));
        const found = text.split(/\s+/).filter(one => one !== '' && one !== '-');
        return found.join(' ') === blocks.flatMap(({ words }) => words).join(' ');
      }),
      { numRuns: 500 },
    ),
  );
});

const TOKENS =
  '< > </ <! <!-- --> <p> <P </p> <pre> </pre> <script> </script> <script <style> <li> <td> <br> = " \' & &amp; &#1; &nbsp; \n a';

t.test('for anything at all the text is no longer than the HTML, and tidy', async t => {
  const html = fc.array(fc.constantFrom(...TOKENS.split(' '), ' ', '\r')).map(pieces => pieces.join(''));
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.oneof(html, fc.string({ unit: 'binary' })), html => {
        const text = htmlToText(html);
        return text.length <= html.length && !/\n\n\n|[ \n]$|[\0-\x08\x0b-\x1f\x7f]/.test(text);
      }),
      { numRuns: 2000 },
    ),
  );
});

t.test('a hostile megabyte costs no more than their length', async t => {
  const pieces = [
    ...[
      '<',
      '</',
      '<!',
      '<!--',
      '<a',
      '<a ',
      '<a "',
      '<a ="',
      "<a =' ",
      '<a = "\'',
      '<a b="c" ',
      '<p>',
      '<td>a',
    ],
    ...[
      '&',
      '&#',
      '&#x',
      '&amp',
      '&a',
      '&#6',
      ' ',
      '\n',
      '\u00a0 ',
      'a<b>',
      '<li>a<br>',
      '<pre>\n',
      '</pre>',
    ],
    ...[
      '<script>',
      '</script',
      '<style></styl',
      '<script></script>',
      '<!---',
      '<x>>"',
      '="',
      '-->',
      '<table><tr><td>',
    ],
  ];
  for (const piece of pieces) {
    const html = piece.repeat(1_000_000 / piece.length);
    t.ok(htmlToText(html).length <= html.length, piece);
    t.ok(htmlToText(`<a x=">" ${html}`).length <= html.length + 10, `behind an open tag: ${piece}`);
  }
});
