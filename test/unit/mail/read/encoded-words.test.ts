import t from 'tap';
import { contentWithHeader, utf8 } from './parse-text.js';

async function subject(value: string): Promise<string | null> {
  return (await contentWithHeader(`Subject: ${value}`)).subject;
}

t.test('encoded words are decoded', async t => {
  t.equal(await subject('=?utf-8?Q?caf=C3=a9_noir?='), 'café noir');
  t.equal(await subject('=?UTF-8?b?Y2Fmw6k=?='), 'café');
  t.equal(await subject('=?koi8-r?B?8NLJ18XU?='), 'Привет');
  t.equal(await subject('=?iso-8859-1*fr?q?d=E9j=e0?='), 'déjà', 'with a language');
  t.equal(await subject('=?gb2312?B?6Ua74w==?='), '镕汇', 'GB2312 is GBK in practice');
  t.equal(await subject('=?x-nobody?Q?a=41?='), 'aA', 'an unknown charset keeps its ASCII');
  t.equal(await subject('=?utf-8?Q?two words?='), 'two words', 'white space inside');
  t.equal(await subject('=?utf-8?Q?What??='), 'What?', 'a question mark inside');
});

t.test('white space counts next to plain text only', async t => {
  t.equal(await subject('=?utf-8?Q?a?= =?utf-8?Q?b?=\n =?utf-8?Q?c?= d'), 'abc d');
  t.equal(await subject('x =?utf-8?Q?a?= y'), 'x a y');
  t.equal(await subject('x=?utf-8?Q?a?=y'), 'xay');
});

t.test('bytes of neighbours in one charset are joined', async t => {
  t.equal(await subject('=?utf-8?Q?caf=C3?= =?utf-8?Q?=A9?='), 'café');
  t.equal(await subject('=?utf-8?B?5pel5p==?= =?utf-8?B?nKw=?='), '日本');
  t.equal(await subject('=?utf-8?Q?x=C3?= =?UTF-8?B?qXk=?='), 'xéy', 'across encodings');
  t.equal(await subject('=?utf-8?Q?=C3=A9?= =?koi8-r?Q?=C4?='), 'éд', 'but not across charsets');
});

t.test('what is no encoded word stays', async t => {
  for (const text of ['=?utf-8?Q?open', '=??Q?x?=', '=?utf-8?X?x?=', '=?a b?Q?x?=', '=?=?=?', 'a?=']) {
    t.equal(await subject(text), text);
  }
  t.equal(await subject('=?utf-8?Q?lost =?utf-8?Q?found?='), '=?utf-8?Q?lost found');
  t.equal(await subject('=?utf-8?Q?a=ZZ=4?='), 'a=ZZ=4', 'invalid escapes');
});

t.test('UTF-7 stays undecoded', async t => {
  t.equal(await subject('=?utf-7?Q?+ADw-b+AD4-?='), '+ADw-b+AD4-');
});

t.test('raw bytes are UTF-8, or else windows-1252', async t => {
  t.equal(await subject(utf8('Grüße 日本 🙂')), 'Grüße 日本 🙂');
  t.equal(await subject('caf\xe9 \x93noir\x94'), 'café “noir”');
});

t.test('no line break, control or direction control comes out', async t => {
  t.equal(await subject('=?utf-8?Q?Hi=0D=0ABcc:_x@a.example?='), 'Hi Bcc: x@a.example');
  t.equal(await subject('be\u0000fore'), 'before');
  t.equal(await subject('=?utf-8?Q?a=C2=85b=E2=80=A8c=7F=1B[0m?='), 'a b c[0m');
  t.equal(await subject('=?utf-8?Q?=E2=80=AEabc=E2=81=A6?='), 'abc');
});

t.test('an empty subject is a subject', async t => {
  t.equal(await subject(''), '');
  t.equal((await contentWithHeader('From: a@a.example')).subject, null);
});
