import fc from 'fast-check';
import t from 'tap';
import { declaredHtmlCharset, decodeText } from '../../../../src/mail/read/charset.js';
import { TextStream } from '../../../../src/mail/read/text-stream.js';
import { parseText, utf8 } from './parse-text.js';

async function text(charset: string | null, body: string): Promise<string | null> {
  const parameter = charset === null ? '' : `; charset=${charset}`;
  return (await parseText(`Content-Type: text/plain${parameter}\n\n${body}`)).content.text;
}

t.test('labels mean what clients make of them', async t => {
  t.equal(await text('utf8', utf8('é')), 'é');
  t.equal(await text("'UTF-8'", utf8('é')), 'é');
  t.equal(await text('utf-8', utf8('\ufeffé')), 'é', 'a byte order mark');
  t.equal(await text('iso-8859-1', '\x93\xe9\x94'), '“é”', 'windows-1252');
  t.equal(await text('ISO_8859-1', '\xe9'), 'é');
  t.equal(await text('windows-1252', '10 \x80 \x96'), '10 € –');
  t.equal(await text('iso8859-15', '\xa4'), '€');
  t.equal(await text('iso-8859-8-i', '\xf9\xec\xe5\xed'), 'שלום');
  t.equal(await text('cp1251', '\xcf'), 'П');
  t.equal(await text('gb2312', '\xe9\x46'), '镕', 'GBK');
  t.equal(await text('gbk', '\x81\x30\x84\x36'), '¥', 'GB18030');
  t.equal(await text('shift_jis', '\x87\x40\xfb\xfc'), '①髙', 'CP932');
  t.equal(await text('ks_c_5601-1987', '\x8c\x63\xb0\xa1'), '똠가'.slice(-2), 'CP949');
  t.equal(await text('big5', '\xa4\xa4'), '中');
  t.equal(await text('utf-16le', 'h\x00i\x00'), 'hi');
  t.equal(await text('utf-16le', 'h\x00\x00\xd8i\x00'), 'h\ufffdi', 'a lone surrogate');
});

t.test('charsets that switch with escapes', async t => {
  t.equal(await text('iso-2022-jp', '\x1b$B$3$s\x1b(B ok \x1b(I1\x1b(B'), 'こん ok ｱ');
  t.equal(await text('csISO2022JP', '\x1b$B-!\x1b(B'), '①');
  t.equal(await text('iso-2022-jp-2', '\x1b$(D"/\x1b(B'), '˘');
  t.equal(await text('iso-2022-jp', '\x1b$B$3\n$s'), 'こ\n$s', 'a line begins in ASCII');
  t.equal(await text('iso-2022-kr', '\x1b$)C\x0e0!\x0f a'), '가 a');
  t.equal(await text('hz-gb-2312', 'a~{VP~}~~b'), 'a中~b');
});

t.test('without a usable label the bytes decide', async t => {
  for (const label of [null, 'us-ascii', 'x-unknown', 'constructor', '__proto__', 'base64', '""']) {
    t.equal(await text(label, utf8('Grüße 日本')), 'Grüße 日本', String(label));
    t.equal(await text(label, 'Gr\xfc\xdfe'), 'Grüße', String(label));
  }
  t.equal(await text('utf-8', 'Gr\xfc\xdfe!'), 'Gr\ufffd\ufffde!', 'but a label that is wrong stays wrong');
});

t.test('UTF-7 is refused', async t => {
  t.equal(await text('utf-7', '+ADw-b+AD4-'), '+ADw-b+AD4-');
});

t.test('HTML says its charset where the header does not', async t => {
  const html = async (header: string, body: string): Promise<string | null> =>
    (await parseText(`Content-Type: text/html${header}\n\n${body}`)).content.html;
  t.equal(await html('', '<meta charset="koi8-r">\xc4'), '<meta charset="koi8-r">д');
  t.match(await html('', '<meta http-equiv=x content="text/html; charset=windows-1251">\xcf'), /П$/);
  t.match(await html('; charset=utf-8', `<meta charset=koi8-r>${utf8('é')}`), /é$/, 'the header wins');
  t.match(await html('', `<meta charset=iso-8859-1>${utf8('é')}`), /é$/, 'valid UTF-8 is UTF-8');
});

t.test('decoded as it arrives, a text is what it is as a whole', async t => {
  const pieces = [
    ...['text', '\r\n', '\n', '\r', ' ', '<meta charset=iso-8859-2>', 'é', '日本', '😀', '\ufeff'].map(text =>
      Buffer.from(text),
    ),
    ...[[0xff], [0xc3], [0x80], [0xe2, 0x82], [0xf0, 0x9f], [0x93], [0], [0xed, 0xa0, 0x80]].map(bytes =>
      Buffer.from(bytes),
    ),
  ];
  const labels = [null, 'utf-8', 'us-ascii', 'iso-8859-1', 'iso-8859-2', 'utf-16le', 'shift_jis', 'nothing'];
  const examples: [Buffer<ArrayBuffer>[], number[], string, boolean][] = [
    [[Buffer.from('\ufeff'), Buffer.from('\ufeff')], [1], 'utf-8', false],
    [[Buffer.from('a'), Buffer.from('\ufeff')], [1], 'us-ascii', false],
  ];
  const property = fc.property(
    fc.array(fc.constantFrom(...pieces), { maxLength: 12 }),
    fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
    fc.constantFrom(...labels),
    fc.boolean(),
    (parts, lengths, label, isHtml) => {
      const bytes = Buffer.concat(parts);
      const stream = new TextStream(label, isHtml);
      for (let at = 0, step = 0; at < bytes.length; step++) {
        const length = lengths[step % lengths.length] ?? 1;
        stream.write(bytes.subarray(at, at + length));
        at += length;
      }
      const charset = label ?? (isHtml ? declaredHtmlCharset(bytes) : null);
      return stream.end() === decodeText(bytes, charset).replaceAll('\r\n', '\n');
    },
  );
  fc.assert(property, { numRuns: 20_000, examples });
  t.pass('in every charset, wherever it is cut');
});

t.test('a long text that is decoded as a whole loses no line end, wherever its pieces end', t => {
  for (const charset of ['iso-8859-2', 'utf-8', 'utf-16le']) {
    for (let before = 65_533; before <= 65_538; before++) {
      const lines = `${'x'.repeat(before)}\r\n\r\n\ry\r`;
      const stream = new TextStream(charset, false);
      stream.write(charset === 'utf-16le' ? Buffer.from(lines, 'utf16le') : Buffer.from(lines));
      t.equal(stream.end(), lines.replaceAll('\r\n', '\n'), `${charset}, ${before}`);
    }
  }
  t.end();
});
