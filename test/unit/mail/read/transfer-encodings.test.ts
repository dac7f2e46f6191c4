import fc from 'fast-check';
import t from 'tap';
import { decodeBody, parseText } from './parse-text.js';

async function decode(encoding: string, encoded: string, pieceLength = encoded.length + 1): Promise<string> {
  return (await decodeBody(encoding, Buffer.from(encoded, 'latin1'), () => pieceLength)).toString('latin1');
}

t.test('base64', async t => {
  t.equal(await decode('base64', 'SGVsbG8='), 'Hello');
  t.equal(await decode('base64', 'SGVs\r\nbG8\r\n='), 'Hello', 'lines of any length');
  t.equal(
    await decode('base64', 'SG-Vs!b*_G8='),
    'Hello',
    'foreign characters, those of base64url among them',
  );
  t.equal(await decode('base64', 'SGVsbG8=V29ybGQ='), 'HelloWorld', 'more after the padding');
  t.equal(await decode('base64', 'SGVsbG8'), 'Hello', 'no padding');
  t.equal(await decode('base64', 'SGVsbG8h=Q=='), 'Hello!', 'stray padding');
  t.equal(await decode('base64', '===='), '');
});

t.test('quoted-printable', async t => {
  t.equal(await decode('quoted-printable', 'a=3Db =c3=A9'), 'a=b \xc3\xa9');
  t.equal(await decode('quoted-printable', 'a=\r\nb= \t\r\nc=\nd='), 'abcd', 'soft breaks');
  t.equal(await decode('quoted-printable', 'a \t\r\nb \n c  '), 'a\r\nb\n c', 'white space at line ends');
  t.equal(await decode('quoted-printable', '=ZZ =4 100=% =G1 ='), '=ZZ =4 100=% =G1 ', 'invalid escapes');
  t.equal(await decode('quoted-printable', 'a\rb=\rc \r'), 'a\rb=\rc \r', 'a bare CR');
  t.equal(await decode('quoted-printable', '=0D=0A=20'), '\r\n ');
});

t.test('every encoding decodes the same in pieces of any length', async t => {
  const alphabet = fc.constantFrom(...'=\r\n \t4fZ+/-A');
  const property = fc.asyncProperty(
    fc.string({ unit: alphabet, maxLength: 60 }),
    fc.integer({ min: 1, max: 9 }),
    fc.constantFrom('base64', 'quoted-printable', '7bit'),
    async (encoded, length, encoding) =>
      (await decode(encoding, encoded, length)) === (await decode(encoding, encoded)),
  );
  await t.resolves(fc.assert(property, { numRuns: 500 }));
});

t.test('what was encoded comes back', async t => {
  const property = fc.asyncProperty(
    fc.uint8Array({ maxLength: 300 }),
    fc.integer({ min: 1, max: 80 }),
    async (bytes, lineLength) => {
      const lines = Buffer.from(bytes)
        .toString('base64')
        .replace(new RegExp(`.{${lineLength}}`, 'g'), '$&\r\n');
      return (await decode('base64', lines)) === Buffer.from(bytes).toString('latin1');
    },
  );
  await t.resolves(fc.assert(property));
});

t.test('the name of the encoding is read leniently', async t => {
  for (const name of ['base64', 'BASE64', 'base64;', '"base64"', 'base64 (so it is)', '(c) base64']) {
    const { content } = await parseText(`Content-Transfer-Encoding: ${name}\n\nSGVsbG8=\n`);
    t.equal(content.text, 'Hello', name);
  }
  const { content } = await parseText('Content-Transfer-Encoding: x-none\n\nHello');
  t.equal(content.text, 'Hello', 'an unknown one changes nothing');
});

t.test('format=flowed', async t => {
  const flowed = async (body: string, more = ''): Promise<string | null> =>
    (await parseText(`Content-Type: text/plain; format=Flowed${more}\n\n${body}`)).content.text;
  t.equal(await flowed('one \nparagraph.\nnext\n'), 'one paragraph.\nnext\n');
  t.equal(await flowed('  stuffed\n >no quote\n From\n'), ' stuffed\n>no quote\nFrom\n');
  t.equal(await flowed('> quoted \n> on\n>> deeper \n> back\n>\n'), '> quoted on\n>> deeper \n> back\n>\n');
  t.equal(await flowed('words \n-- \nSig\n'), 'words \n-- \nSig\n', 'the signature is not joined');
  t.equal(
    await flowed(
      '日 \n本\n'.replace(/日|本/g, c => Buffer.from(c).toString('latin1')),
      '; delsp=yes',
    ),
    '日本\n',
  );
  t.equal(
    (await parseText('Content-Type: text/html; format=flowed\n\na \nb')).content.html,
    'a \nb',
    'not HTML',
  );
});
