import fc from 'fast-check';
import t from 'tap';
import { composeMessage, type OutgoingMessage } from '../../../../src/mail/write/compose-message.js';
import { compile } from '../../../../src/mail/write/library-composer.js';
import { outgoing } from './outgoing-messages.js';

const file = {
  filename: 'a.txt',
  type: 'text/plain',
  disposition: 'attachment',
  contentId: 'c1',
  bytes: Buffer.from('x'),
} as const;
const withFiles = (changes: object) => outgoing({ html: '<p>', files: [{ ...file, ...changes }] });

/** A message with `value` in one of its places. */
const PLACES: Readonly<Record<string, (value: string) => OutgoingMessage>> = {
  'sender name': name => outgoing({ from: { address: 'a@a.example', name } }),
  'recipient name': name => outgoing({ cc: [{ address: 'a@a.example', name }] }),
  'sender address': address => outgoing({ from: { address } }),
  'recipient address': address => outgoing({ to: [{ address }] }),
  subject: subject => outgoing({ subject }),
  'message id': messageId => outgoing({ messageId }),
  'in reply to': inReplyTo => outgoing({ replyHeaders: { inReplyTo, references: '<a@b>' } }),
  references: references => outgoing({ replyHeaders: { inReplyTo: '<a@b>', references } }),
  'file name': filename => withFiles({ filename }),
  'file type': type => withFiles({ type }),
  'content id': contentId => withFiles({ contentId }),
  disposition: disposition => withFiles({ disposition }),
  id: id => outgoing({ id }),
};
const places = fc.constantFrom(...Object.keys(PLACES));
const place = (name: string, value: string) => composeMessage(PLACES[name]!(value));

t.test('a line end, NUL or other control is refused in every place', async t => {
  const control = fc.oneof(
    fc.constantFrom('\r\n', '\n', '\r', '\0'),
    fc.stringMatching(/^[\0-\x1f\x7f-\x9f]$/),
  );
  const text = fc.string({ unit: 'grapheme', maxLength: 20 });
  await t.resolves(
    fc.assert(
      fc.asyncProperty(places, text, control, text, async (name, before, bad, after) => {
        const value = name === 'references' ? `<a@b> <${before}${bad}${after}>` : before + bad + after;
        try {
          await place(name, value);
          return false;
        } catch (error) {
          return error instanceof Error && !error.message.includes('Bcc');
        }
      }),
      { numRuns: 2000 },
    ),
  );
});

t.test('for anything at all no field is added and no part begins', async t => {
  const trick = fc.constantFrom(
    'Bcc: x',
    '\r\nBcc: x@x.example',
    '"',
    ';',
    '\u2028',
    '\u0085',
    '\ud83d',
    '?=\r\n',
  );
  const value = fc
    .array(fc.oneof(trick, fc.string({ unit: 'binary', maxLength: 10 }), fc.string({ maxLength: 30 })))
    .map(pieces => pieces.join(''));
  const fieldsOf = (raw: Buffer) => [...raw.toString('latin1').matchAll(/^[!-9;-~]+:|^--=/gm)].join();
  const expected = new Map(
    Object.entries({
      'message id': 'm@a',
      'sender address': 'x@y',
      'recipient address': 'x@y',
      'in reply to': '<a@b>',
      references: '<a@b>',
      'file type': 'a/b',
      'content id': 'c',
      disposition: 'inline',
      id: outgoing().id,
    }),
  );
  await t.resolves(
    fc.assert(
      fc.asyncProperty(places, value, async (name, value) => {
        let raw: Buffer;
        try {
          raw = await place(name, value);
        } catch {
          return true;
        }
        if (value === '' && name === 'subject') return true;
        return fieldsOf(raw).length === fieldsOf(await place(name, expected.get(name) ?? 'x')).length;
      }),
      { numRuns: 3000 },
    ),
  );
});

t.test('what breaks a promise of its type throws', async t => {
  for (const [name, values] of Object.entries({
    'recipient address': ['', 'a', 'a@b, c@d', 'ä@b', 'a b@c', '<a@b>'],
    'message id': ['', 'a b', '<a@b>', 'a>b', 'ä@b', 'i'.repeat(984)],
    'in reply to': ['', 'a@b', '<a@b> x', '<a@b>,<c@d>', '<>'],
    references: ['', '<a@b>  <c@d>', '<a@b> ', '<a b>'],
    'file type': ['', 'text', 'text/plain; charset=x', 'a/b/c', 'ä/b', `a/${'b'.repeat(126)}`],
    'content id': ['', ' a', 'a\tb', '<a>', 'ä'],
    id: ['', 'x', '0190A3A0-0000-7000-8000-000000000001'],
  })) {
    for (const value of values) await t.rejects(place(name, value), `${name} ${JSON.stringify(value)}`);
  }
  for (const date of [Number.NaN, -1, Number.POSITIVE_INFINITY, Date.UTC(10_000, 0)]) {
    await t.rejects(composeMessage(outgoing({ date })), String(date));
  }
});

t.test('what would get past every other check is refused before anything is written', async t => {
  const content = Buffer.from('x');
  const attachments = [{ filename: 'a', contentType: 'a/b', content, headers: { 'Content-ID': '<\u00e4>' } }];
  t.throws(
    () => compile({ text: { content }, messageId: '<\u00e4>' }),
    /Message-ID: text that no header may hold/,
  );
  t.throws(() => compile({ text: { content }, attachments }), /Content-ID: text that no header may hold/);
  t.throws(() => compile({ text: { content }, subject: 'a\r\nb' }), /Subject: text that no header may hold/);
});
