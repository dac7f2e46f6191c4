import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { safeFilename } from '../../../../src/domain/text.js';
import { composeMessage, type OutgoingMessage } from '../../../../src/mail/write/compose-message.js';
import { subjectText } from '../../../../src/mail/write/header-text.js';
import { parseBytes } from '../read/parse-text.js';
import { mailbox, outgoing } from './outgoing-messages.js';

/** The field of that name as it is transmitted, without its name. */
async function field(name: string, changes: Partial<OutgoingMessage>): Promise<string> {
  const raw = `\r\n${(await composeMessage(outgoing(changes))).toString('latin1')}`;
  const start = raw.indexOf(`\r\n${name}: `) + `\r\n${name}: `.length;
  return raw.slice(start, start + (/\r\n(?! )/.exec(raw.slice(start))?.index ?? 0));
}

const to = (...names: readonly string[]) =>
  field('To', { to: names.map(name => ({ address: 'ann@a.example', ...(name === '' ? {} : { name }) })) });
const subject = (text: string) => field('Subject', { subject: text });

const ENCODED = /^=\?UTF-8\?[BQ]\?[!->@-~]+\?=(?:(?:\r\n)? =\?UTF-8\?[BQ]\?[!->@-~]+\?=)*$/;

async function contentOf(changes: Partial<OutgoingMessage>) {
  return (await parseBytes(await composeMessage(outgoing(changes)))).content;
}

t.test('a name is atoms or a quoted string where it can be', async t => {
  t.equal(await to(''), 'ann@a.example');
  t.equal(await to('Ann B'), 'Ann B <ann@a.example>');
  t.equal(await to('Ann B.'), '"Ann B." <ann@a.example>');
  t.equal(await to('B, "Ann" \\'), '"B, \\"Ann\\" \\\\" <ann@a.example>');
});

t.test('any other name is encoded words, and comes back as it was', async t => {
  for (const name of [
    'Jörg Sender',
    '日本語',
    '=?utf-8?Q?x?=',
    'a =?utf-8?Q?x?= b',
    `Ann${' '.repeat(200)}B`,
    'x'.repeat(200),
    `${'é'.repeat(30)}, "${'𝒳'.repeat(30)}"`,
  ]) {
    t.match((await to(name)).replace(/(?:\r\n)? <ann@a\.example>$/, ''), ENCODED);
    const { to: read } = await contentOf({ to: [{ address: 'ann@a.example', name }] });
    t.same(read, [{ name, address: 'ann@a.example' }]);
  }
});

t.test('an address stays as it is given, whatever a URL would make of its domain', async t => {
  for (const address of [
    'a@5.3',
    'a@0x7f.1',
    'A.B@ExAmPlE.example',
    'a@1',
    "o'neil+x@b.example",
    '=?a?=@b.example',
  ]) {
    t.equal(await field('From', { from: { address } }), address);
    t.equal(await field('To', { to: [{ address, name: 'Ann' }] }), `Ann <${address}>`);
    t.equal(await field('Cc', { cc: [{ address }] }), address);
  }
  await t.resolves(
    fc.assert(
      fc.asyncProperty(fc.array(mailbox, { minLength: 1, maxLength: 5 }), async list => {
        const { to } = await contentOf({ to: list });
        return isDeepStrictEqual(
          to.map(one => ('address' in one ? one.address : null)),
          list.map(one => one.address),
        );
      }),
      { numRuns: 300 },
    ),
  );
});

t.test('addresses are folded between words', async t => {
  t.equal(
    (await to(...Array<string>(3).fill('Ann of the very long name'))).replaceAll('\r\n', ''),
    Array<string>(3).fill('Ann of the very long name <ann@a.example>').join(', '),
  );
  t.equal(
    await to('', '', '', '', ''),
    `${Array<string>(4).fill('ann@a.example,').join(' ')}\r\n ann@a.example`,
  );
});

t.test('a subject stands as it is where it comes back so', async t => {
  for (const text of ['Hello', 'Re: 50% = half, (or not) ?=', 'say "half"', 'x'.repeat(66)]) {
    t.equal(await subject(text), text);
  }
  const words = Array<string>(30).fill('word').join(' ');
  t.equal((await subject(words)).replaceAll('\r\n', ''), words);
  t.equal((await subject(words)).split('\r\n').length, 3);
});

t.test('a subject is encoded where it would not, and comes back as it was', async t => {
  for (const text of [
    ' a',
    'a  b',
    'a ',
    'with =?x',
    '=?utf-8?Q?x?=',
    'Grüße',
    '\ud83d',
    'x'.repeat(998),
    '日'.repeat(332),
    `a${' '.repeat(300)}b`,
  ]) {
    t.match(await subject(text), ENCODED, JSON.stringify(text));
    const { content } = await parseBytes(await composeMessage(outgoing({ subject: `[${text}]` })));
    t.equal(content.subject, `[${text.toWellFormed()}]`);
  }
});

t.test(
  'an encoded word has 75 octets at most, holds whole characters, and is of the shorter encoding',
  async t => {
    const text = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 200 })
      .filter(one => /[^ -~]/.test(one));
    const wordOf = /^=\?UTF-8\?([BQ])\?([!->@-~]+)\?=$/;
    t.doesNotThrow(() =>
      fc.assert(
        fc.property(
          text.filter(one => !/\p{Cc}|\ufffd/u.test(one)),
          text => {
            const words = subjectText(text).split(' ');
            const decoded = words.map(word => {
              const [, encoding, content = ''] = wordOf.exec(word) ?? [];
              const escapes = content
                .replaceAll('_', '%20')
                .replaceAll('%', '%25')
                .replaceAll('%2520', '%20');
              return encoding === 'B'
                ? Buffer.from(content, 'base64').toString()
                : decodeURIComponent(escapes.replaceAll('=', '%'));
            });
            return (
              decoded.join('') === text &&
              decoded.every(one => one.isWellFormed() && !one.includes('\ufffd')) &&
              words.every(word => word.length <= 75)
            );
          },
        ),
        { numRuns: 1000 },
      ),
    );
    t.match(subjectText('日本語'), /^=\?UTF-8\?B\?/);
    t.match(subjectText('only one é among many'), /^=\?UTF-8\?Q\?/);
  },
);

t.test('ids are folded between two of them, never behind the name, and a date is in UTC', async t => {
  const ids = Array.from({ length: 20 }, (_, n) => `<${n}.aaaaaaaaaaaaaaaaaaaaaaaa@b.example>`);
  const replyHeaders = { inReplyTo: ids[0] ?? '', references: ids.join(' ') };
  const references = await field('References', { replyHeaders });
  t.equal(references.replaceAll('\r\n', ''), ids.join(' '));
  t.ok(references.split('\r\n').every(line => line.length <= 76));
  t.equal(await field('In-Reply-To', { replyHeaders }), ids[0]);
  const long = `<${'i'.repeat(200)}@b.example>`;
  t.equal(
    await field('In-Reply-To', { replyHeaders: { inReplyTo: long, references: `${long} <a@b>` } }),
    long,
  );
  t.match(
    await field('References', { replyHeaders: { inReplyTo: long, references: `${long} <a@b>` } }),
    long,
  );
  t.equal(await field('Date', {}), 'Sat, 28 Nov 2026 02:13:00 +0000');
});

/** The header fields of the part of a file, unfolded. */
async function attached(filename: string): Promise<{ readonly type: string; readonly disposition: string }> {
  const files = [
    { filename, type: 'application/pdf', disposition: 'attachment', bytes: Buffer.alloc(0) } as const,
  ];
  const raw = (await composeMessage(outgoing({ files }))).toString('latin1').replaceAll('\r\n ', ' ');
  const last = (name: string) => [...raw.matchAll(new RegExp(`^${name}: (.*)\\r$`, 'gm'))].at(-1)?.[1] ?? '';
  return { type: last('Content-Type'), disposition: last('Content-Disposition') };
}

t.test('a file name of ASCII stands as it is, any other by RFC 2231, and as encoded words too', async t => {
  t.same(await attached('a b.pdf'), {
    type: 'application/pdf; name="a b.pdf"',
    disposition: 'attachment; filename="a b.pdf"',
  });
  t.same(await attached('a*b'), {
    type: 'application/pdf; name="a*b"',
    disposition: 'attachment; filename="a*b"',
  });
  t.same(await attached('Der März.pdf'), {
    type: 'application/pdf; name="=?UTF-8?Q?Der_M=C3=A4rz=2Epdf?="',
    disposition: "attachment; filename*0*=utf-8''Der%20M%C3%A4rz.pdf",
  });
  const { type, disposition } = await attached('a =?utf-8?Q?x?=.pdf');
  t.notMatch(type, '=?', 'nothing that looks encoded');
  t.notMatch(disposition, '=?');
});

t.test('any file name comes back as it was', async t => {
  for (const filename of [
    'a "b" \\.pdf',
    '=?utf-8?Q?x?=',
    `a${' '.repeat(250)}b`,
    `${'n'.repeat(251)}.pdf`,
    '日'.repeat(84),
    `${'a 100%'.repeat(20)}é'`,
    "utf-8''%41.pdf",
    '-f',
  ]) {
    const file = {
      filename,
      type: 'application/pdf',
      disposition: 'attachment',
      bytes: Buffer.of(1),
    } as const;
    const { attachments } = await contentOf({ files: [file] });
    t.equal(attachments[0]?.filename, safeFilename(filename));
  }
});
