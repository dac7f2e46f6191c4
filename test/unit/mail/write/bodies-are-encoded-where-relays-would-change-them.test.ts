import fc from 'fast-check';
import t from 'tap';
import { encodeBase64, encodeText } from '../../../../src/mail/write/encode-text.js';
import { atOnce } from '../../../support/at-once.js';
import { decodeBody } from '../read/parse-text.js';
import { asRead, bodyText } from './outgoing-messages.js';

function encoded(text: string): { readonly encoding: string; readonly body: string } {
  const { encoding, body } = atOnce(encodeText(text, 'DELIMITER'));
  return { encoding, body: body.toString('latin1') };
}

t.test('short lines of ASCII are sent as they stand, with CRLF line ends and one at the end', async t => {
  for (const [text, body] of [
    ['Hello', 'Hello\r\n'],
    ['a\nb\r\nc\rd\r\r\ne\n\n', 'a\r\nb\r\nc\r\nd\r\n\r\ne\r\n\r\n'],
    ['..\n>From\n Fromage \tx\n--', '..\r\n>From\r\n Fromage \tx\r\n--\r\n'],
    ['x'.repeat(78), `${'x'.repeat(78)}\r\n`],
    ['', ''],
    ['\n', '\r\n'],
  ] as const) {
    t.strictSame(encoded(text), { encoding: '7bit', body }, JSON.stringify(text));
  }
});

/** A line of quoted-printable is safe: short, no blank at its end, no dot or `From ` at its beginning. */
const isSafeLine = (line: string) => line.length <= 76 && !/[ \t]$|^From |^\./.test(line);

/** The text that an encoded body stands for. */
async function decoded({
  encoding,
  body,
}: {
  readonly encoding: string;
  readonly body: string;
}): Promise<string> {
  return (await decodeBody(encoding, Buffer.from(body, 'latin1'))).toString();
}

t.test('what relays or mail files change is quoted', async t => {
  const long = 'x'.repeat(79);
  for (const text of [
    '.',
    'a\n.\n',
    'From me',
    'Hello \nyou\t\n',
    ' ',
    'caf\u00e9 = coffee',
    `long long long${long}`,
    'this is a NUL: \0\x7f',
    'this one holds the DELIMITER',
    'this is half a character: \ud83d',
    `${'x'.repeat(75)}.${'y'.repeat(76)}`,
    ...Array.from({ length: 20 }, (_, n) => `${'x'.repeat(60 + n)}From ${'y'.repeat(20)}`),
    ...Array.from({ length: 20 }, (_, n) => `${'x'.repeat(60 + n)} .. From ${'y'.repeat(20)}`),
    '= '.repeat(2),
  ]) {
    const sent = encoded(text);
    t.equal(sent.encoding, 'quoted-printable', JSON.stringify(text));
    t.equal(await decoded(sent), asRead(text).replaceAll('\n', '\r\n'));
    t.ok(sent.body.split('\r\n').every(isSafeLine), sent.body);
  }
});

t.test('text that is mostly outside of ASCII is base64', async t => {
  t.strictSame(encoded('日本語'), { encoding: 'base64', body: '5pel5pys6KqeDQo=\r\n' });
});

const wild = fc.oneof(
  bodyText,
  fc.string({
    unit: fc.constantFrom('From ', '.', ' ', 'é', 'e', 'e', 'e', '\n', '\t'),
    maxLength: 400,
    size: 'max',
  }),
);

/** Text of more than one piece, of lines longer and shorter than a piece, cut anywhere. */
const long = fc
  .tuple(
    fc.array(
      fc.tuple(fc.constantFrom('\r', '\n', '\r\n', ' ', '.\r', 'From ', 'é', 'word ', 'x'), fc.nat(9000)),
      { minLength: 1, maxLength: 6 },
    ),
    fc.nat(3),
  )
  .map(([runs, shift]) => 'y'.repeat(shift) + runs.map(([unit, times]) => unit.repeat(times)).join(''));

for (const [name, texts, numRuns] of [
  ['any text', wild, 2000],
  ['long text', long, 150],
] as const) {
  t.test(`${name} decodes to itself, in lines that no relay changes`, async t => {
    await t.resolves(
      fc.assert(
        fc.asyncProperty(texts, async text => {
          const sent = encoded(text);
          const lines = sent.body.split('\r\n');
          const isSafe =
            sent.encoding === '7bit'
              ? lines.every(line => /^[\t -~]{0,78}$/.test(line) && !/[ \t]$|^From |^\.$/.test(line))
              : lines.every(isSafeLine);
          return (
            (await decoded(sent)) === asRead(text).replaceAll('\n', '\r\n') && isSafe && lines.at(-1) === ''
          );
        }),
        { numRuns },
      ),
    );
  });
}

t.test('text that is sent as it stands never holds the delimiter, wherever it is', async t => {
  const places = fc.tuple(fc.nat(30_000), fc.constantFrom('\r', '\n', '\r\n'));
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(places, ([lines, end]) => {
        const sent = encoded(`${`x${end}`.repeat(lines)}--DELIMITER${end}${`x${end}`.repeat(20_000)}`);
        return sent.encoding !== '7bit';
      }),
      { numRuns: 50 },
    ),
  );
});

t.test('base64 stands in lines of 76, without the end of the last', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300, size: 'max' }), fc.nat(3), (bytes, times) => {
        const all = Buffer.concat(Array<Uint8Array>(1 + 100 * times).fill(bytes));
        const expected = all.toString('base64').replace(/.{76}(?=.)/g, '$&\r\n');
        return atOnce(encodeBase64(all)).toString('latin1') === expected;
      }),
      { numRuns: 300 },
    ),
  );
});
