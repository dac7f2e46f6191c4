import fc from 'fast-check';
import t from 'tap';
import { atOnce } from '../../../../src/lib/slices.js';
import { createTransferDecoder } from '../../../../src/mail/read/transfer-decoders.js';
import { base64Length, encodeText, writeBase64 } from '../../../../src/mail/write/encode-text.js';
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

t.test('what relays or mail files change is quoted', async t => {
  const long = 'x'.repeat(79);
  for (const [text, body] of [
    ['.', '=2E\r\n'],
    ['a\n.\n', 'a\r\n=2E\r\n'],
    ['From me', '=46rom me\r\n'],
    ['Hello \nyou\t\n', 'Hello=20\r\nyou=09\r\n'],
    [' ', '=20\r\n'],
    ['caf\u00e9 = coffee', 'caf=C3=A9 =3D coffee\r\n'],
    [`long long long${long}`, `long long long${'x'.repeat(61)}=\r\n${'x'.repeat(18)}\r\n`],
    ['this is a NUL: \0\x7f', 'this is a NUL: =00=7F\r\n'],
    ['this one holds the DELIMITER', 'this one holds the DELIMITER\r\n'],
    ['this is half a character: \ud83d', 'this is half a character: =EF=BF=BD\r\n'],
    [`${'x'.repeat(75)}.${'y'.repeat(76)}`, `${'x'.repeat(75)}=\r\n=2E${'y'.repeat(72)}=\r\nyyyy\r\n`],
    [`${'x'.repeat(75)}From ${'y'.repeat(20)}`, `${'x'.repeat(75)}=\r\n=46rom ${'y'.repeat(20)}\r\n`],
  ] as const) {
    t.strictSame(encoded(text), { encoding: 'quoted-printable', body }, JSON.stringify(text));
  }
});

t.test('text that is mostly outside of ASCII is base64', async t => {
  t.strictSame(encoded('日本語'), { encoding: 'base64', body: '5pel5pys6KqeDQo=\r\n' });
});

/** The length of quoted-printable, counted character by character. */
function quotedLength(lines: string): number {
  return lines.split('\r\n').reduce((sum, line, index) => {
    const bytes = [...Buffer.from(line)];
    let length = index === 0 ? 0 : 2;
    let column = 0;
    bytes.forEach((byte, at) => {
      const isLast = at === bytes.length - 1;
      const isBlank = byte === 0x20 || byte === 0x09;
      let size = byte === 0x3d || byte > 0x7e || (byte < 0x20 && !isBlank) || (isBlank && isLast) ? 3 : 1;
      if (column + size > (isLast ? 76 : 75)) {
        length += 3;
        column = 0;
      }
      const rest = Buffer.from(bytes.slice(at, at + 5)).toString('latin1');
      if (column === 0 && (rest.startsWith('.') || rest === 'From ')) size = 3;
      column += size;
      length += size;
    });
    return sum + length;
  }, 0);
}

const wild = fc.oneof(
  bodyText,
  fc.string({
    unit: fc.constantFrom('From ', '.', ' ', 'é', 'e', 'e', 'e', '\n', '\t'),
    maxLength: 400,
    size: 'max',
  }),
);

t.test('for any text it decodes to the text, and no other encoding is shorter', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(wild, text => {
        const { encoding, body } = atOnce(encodeText(text, 'DELIMITER'));
        const lines = asRead(text).replaceAll('\n', '\r\n');
        const decoder = createTransferDecoder(encoding);
        const decoded = Buffer.concat([decoder.write(body), decoder.end()]).toString();
        const quoted = quotedLength(lines);
        const base64 = base64Length(Buffer.byteLength(lines));
        const isShortest =
          encoding === '7bit' ||
          (encoding === 'base64'
            ? body.length === base64 && base64 < quoted
            : body.length === quoted && quoted <= base64);
        return decoded === lines && isShortest;
      }),
      { numRuns: 2000 },
    ),
  );
});

t.test('base64 stands in lines of 76, each with its end', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300, size: 'max' }), fc.nat(5), (bytes, at) => {
        const length = base64Length(bytes.length);
        const out = Buffer.alloc(at + length + 3, '#');
        const end = writeBase64(bytes, out, at);
        const expected = Buffer.from(bytes)
          .toString('base64')
          .replace(/.{1,76}/g, '$&\r\n');
        return end === at + length && out.toString('latin1') === `${'#'.repeat(at)}${expected}###`;
      }),
      { numRuns: 500 },
    ),
  );
});
