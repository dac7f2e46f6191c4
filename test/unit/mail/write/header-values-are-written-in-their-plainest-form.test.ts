import fc from 'fast-check';
import t from 'tap';
import { composeMessage, type OutgoingMessage } from '../../../../src/mail/write/compose-message.js';
import { encodeWords } from '../../../../src/mail/write/header-fields.js';
import { outgoing } from './outgoing-messages.js';

/** The field of that name as it is transmitted, without its name. */
function field(name: string, changes: Partial<OutgoingMessage>): string {
  const raw = composeMessage(outgoing(changes)).toString('latin1');
  const start = raw.indexOf(`\r\n${name}: `) + `\r\n${name}: `.length;
  return raw.slice(start, start + (/\r\n(?! )/.exec(raw.slice(start))?.index ?? 0));
}

const to = (...names: readonly string[]) =>
  field('To', { to: names.map(name => ({ address: 'ann@a.example', ...(name === '' ? {} : { name }) })) });
const subject = (text: string) => field('Subject', { subject: text });

function attached(filename: string): { readonly type: string; readonly disposition: string } {
  const files = [
    { filename, type: 'application/pdf', disposition: 'attachment', bytes: Buffer.alloc(0) } as const,
  ];
  const part = composeMessage(outgoing({ files })).toString('latin1').split('\r\n--=_')[2] ?? '';
  const [, type = '', disposition = ''] =
    /\r\nContent-Type: ((?:.|\r\n )+)\r\nContent-Transfer.*\r\nContent-Disposition: ((?:.|\r\n )+)\r\n\r\n/u.exec(
      part,
    ) ?? [];
  return { type, disposition };
}

t.test('a name is atoms, a quoted string, or encoded words', async t => {
  t.equal(to(''), 'ann@a.example');
  t.equal(to('Ann B'), 'Ann B <ann@a.example>');
  t.equal(to('Ann  B.'), '"Ann  B." <ann@a.example>');
  t.equal(to('B, "Ann" \\'), '"B, \\"Ann\\" \\\\" <ann@a.example>');
  t.equal(to('Jörg Sender'), '=?utf-8?Q?J=C3=B6rg_Sender?= <ann@a.example>');
  t.equal(to('日本語'), '=?utf-8?B?5pel5pys6Kqe?= <ann@a.example>');
  t.equal(to('=?utf-8?Q?x?='), '=?utf-8?B?PT91dGYtOD9RP3g/PQ==?= <ann@a.example>');
  t.equal(to(`${'long '.repeat(15)}name`).split('\r\n').length, 2, 'one that no line holds is folded');
});

t.test('addresses are folded between two of them', async t => {
  t.equal(
    to(...Array<string>(3).fill('Ann of the very long name')),
    Array<string>(3).fill('Ann of the very long name <ann@a.example>').join(',\r\n '),
  );
  t.equal(to('', '', '', '', ''), `${Array<string>(4).fill('ann@a.example,').join(' ')}\r\n ann@a.example`);
});

t.test('a subject stands as it is where it comes back so', async t => {
  for (const text of ['Hello', 'Re: 50% = "half", (or not) ?=', 'x'.repeat(67)]) t.equal(subject(text), text);
  const words = Array<string>(30).fill('word').join(' ');
  t.equal(subject(words).replaceAll('\r\n', ''), words);
  t.equal(subject(words).split('\r\n').length, 3);
});

t.test('a subject is encoded where it would not', async t => {
  t.equal(subject(' a'), '=?utf-8?Q?_a?=');
  t.equal(subject('a  b'), '=?utf-8?Q?a__b?=');
  t.equal(subject('a '), '=?utf-8?Q?a_?=');
  t.equal(subject('with =?x'), '=?utf-8?Q?with_=3D=3Fx?=');
  t.equal(subject('Grüße'), '=?utf-8?B?R3LDvMOfZQ==?=');
  t.equal(subject('\ud83d'), '=?utf-8?B?77+9?=');
  t.match(subject('x'.repeat(998)), /^=\?utf-8\?Q\?x+\?=\r\n =\?utf-8/);
});

t.test(
  'an encoded word has 75 octets at most, holds whole characters, and is of the shorter encoding',
  async t => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter(one => !one.includes('\ufffd'));
    const rooms = fc.integer({ min: 40, max: 75 });
    const wordOf = /^=\?utf-8\?([BQ])\?([!->@-~]+)\?=$/;
    t.doesNotThrow(() =>
      fc.assert(
        fc.property(text, rooms, rooms, (text, firstRoom, room) => {
          const words = encodeWords(text, firstRoom, room);
          const decoded = words.map(word => {
            const [, encoding, content = ''] = wordOf.exec(word) ?? [];
            const escapes = content.replaceAll('_', '%20').replaceAll('%', '%25').replaceAll('%2520', '%20');
            return encoding === 'B'
              ? Buffer.from(content, 'base64').toString()
              : decodeURIComponent(escapes.replaceAll('=', '%'));
          });
          return (
            decoded.join('') === text &&
            decoded.every(one => one.isWellFormed() && !one.includes('\ufffd')) &&
            words.every((word, index) => word.length <= (index === 0 ? firstRoom : room))
          );
        }),
        { numRuns: 1000 },
      ),
    );
    t.equal(encodeWords('aé')[0], '=?utf-8?B?YcOp?=', 'base64 where it is shorter');
    t.equal(
      encodeWords('abé')[0],
      '=?utf-8?Q?ab=C3=A9?='.replace(/.*/, '=?utf-8?B?YWLDqQ==?='.length < 20 ? '' : '=?utf-8?Q?ab=C3=A9?='),
    );
  },
);

t.test('ids are folded between two of them, and a date is in UTC', async t => {
  const ids = Array.from({ length: 20 }, (_, n) => `<${n}.aaaaaaaaaaaaaaaaaaaaaaaa@b.example>`);
  const replyHeaders = { inReplyTo: ids[0] ?? '', references: ids.join(' ') };
  const references = field('References', { replyHeaders });
  t.equal(references.replaceAll('\r\n', ''), ids.join(' '));
  t.ok(references.split('\r\n').every(line => line.length <= 76));
  t.equal(field('In-Reply-To', { replyHeaders }), ids[0]);
  t.equal(field('Date', {}), 'Sat, 28 Nov 2026 02:13:00 +0000');
});

t.test(
  'a file name of ASCII is quoted, any other by RFC 2231, and as encoded words for those who know neither',
  async t => {
    t.same(attached('a "b".pdf'), {
      type: 'application/pdf; name="a \\"b\\".pdf"',
      disposition: 'attachment; filename="a \\"b\\".pdf"',
    });
    t.same(attached('Der März.pdf'), {
      type: 'application/pdf; name="=?utf-8?Q?Der_M=C3=A4rz=2Epdf?="',
      disposition: "attachment; filename*=utf-8''Der%20M%C3%A4rz.pdf",
    });
    t.match(attached('=?x.pdf').disposition, "attachment; filename*=utf-8''%3D%3Fx.pdf");
    t.same(
      attached(`${'n'.repeat(251)}.pdf`).disposition,
      `attachment;\r\n filename="${'n'.repeat(251)}.pdf"`,
    );
    const { disposition } = attached('日'.repeat(84));
    const pieces = disposition.split(';\r\n').slice(1);
    t.equal(
      decodeURIComponent(pieces.map(piece => piece.replace(/^ filename\*\d+\*=(utf-8'')?/, '')).join('')),
      '日'.repeat(84),
    );
    t.ok(
      pieces.every(piece => /^ filename\*\d+\*=(utf-8'')?(%E6%97%A5)+$/.test(piece)),
      'whole characters',
    );
  },
);
