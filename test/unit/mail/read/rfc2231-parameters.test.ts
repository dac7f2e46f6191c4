import t from 'tap';
import { multipart, parseText } from './parse-text.js';

async function filename(
  parameters: string,
  field = 'Content-Disposition: attachment',
): Promise<string | null | undefined> {
  const { content } = await parseText(multipart('mixed', `${field}; ${parameters}\n\nx`));
  return content.attachments[0]?.filename;
}

t.test('extended and continued values', async t => {
  t.equal(await filename("filename*=UTF-8'en'%e2%82%ac%20rates.txt"), '€ rates.txt');
  t.equal(await filename("filename*=iso-8859-1''na%EFve.txt"), 'naïve.txt');
  t.equal(
    await filename("filename*0*=utf-8''caf%C3;\n filename*1*=%A9; filename*2=.txt"),
    'café.txt',
    'a split character',
  );
  t.equal(await filename('filename*1=two.txt; filename*0="one "'), 'one two.txt', 'any order');
  t.equal(await filename("filename*=x-nobody''a%20b.txt"), 'a b.txt', 'an unknown charset');
  t.equal(await filename('filename*=a%20b.txt'), 'a b.txt', 'no charset at all');
  t.equal(await filename("name*=utf-8''%C3%A9.bin", 'Content-Type: application/x-bin'), 'é.bin');
});

t.test('the extended form wins over the plain one, in either order', async t => {
  t.equal(await filename("filename=plain.txt; filename*=utf-8''extended.txt"), 'extended.txt');
  t.equal(await filename("filename*=utf-8''extended.txt; filename=plain.txt"), 'extended.txt');
});

t.test('plain values as senders write them', async t => {
  t.equal(await filename('filename="a \\"b\\";c, d.txt"'), 'a "b";c, d.txt');
  t.equal(await filename('filename=my own file.txt'), 'my own file.txt');
  t.equal(await filename('filename=Invoice(1).txt'), 'Invoice(1).txt');
  t.equal(await filename('filename=my file (1).txt'), 'my file (1).txt');
  t.equal(await filename('filename=a.txt (a (nested) comment) ; x=y'), 'a.txt');
  t.equal(await filename('filename="open.txt; size=3'), 'open.txt');
  t.equal(await filename('FileName = "a.txt"junk'), 'a.txt');
  t.equal(await filename('filename="=?utf-8?Q?caf=C3?=\n =?utf-8?Q?=A9.txt?="'), 'café.txt');
  t.equal(await filename('filename=first.txt; filename=second.txt'), 'first.txt');
});

t.test('names of object properties are parameters like others', async t => {
  t.equal(await filename('__proto__=x; constructor=y; filename=a.txt'), 'a.txt');
});

t.test('the main value', async t => {
  const disposition = async (value: string): Promise<string | null | undefined> =>
    (await parseText(multipart('mixed', `Content-Type: image/png\nContent-Disposition: ${value}\n\nx`)))
      .content.attachments[0]?.disposition;
  t.equal(await disposition('INLINE (a comment)'), 'inline');
  t.equal(await disposition('"attachment"; filename=a'), 'attachment');
  t.equal(await disposition('filename=a.png'), null);
  t.equal(await disposition(''), null);
  const { content } = await parseText('Content-Type: text/html charset=koi8-r\n\n\xc4');
  t.equal(content.html, 'д', 'a missing semicolon');
});
