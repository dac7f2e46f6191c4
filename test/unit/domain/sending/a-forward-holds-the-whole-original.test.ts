import fc from 'fast-check';
import t from 'tap';
import { resultOf } from '../../../../src/domain/errors.js';
import {
  type DerivedForward,
  deriveForward,
  type ForwardOptions,
  type ForwardSource,
  sentAsForwardSource,
} from '../../../../src/domain/forward.js';
import { atOnce } from '../../../support/at-once.js';

const source: ForwardSource = {
  from: { name: 'Ann', address: 'ann@a.example' },
  to: [{ name: '', address: 'agent@example.org' }],
  cc: [],
  subject: 'Figures',
  date: '2026-11-28T02:13:00.000Z',
  text: 'Hello\n> quoted\n',
  html: null,
  attachments: [],
};
const header = [
  '---------- Forwarded message ----------',
  'From: Ann <ann@a.example>',
  'Date: Sat, 28 Nov 2026 02:13:00 +0000',
  'Subject: Figures',
  'To: agent@example.org',
].join('\n');

function forward(
  changes: Partial<ForwardSource>,
  options: ForwardOptions = { note: null, includeAttachments: true },
): DerivedForward {
  return atOnce(deriveForward({ ...source, ...changes }, options));
}

const withNote = (note: string | null): ForwardOptions => ({ note, includeAttachments: true });

t.test('note, header block and original text, a blank line between each', async t => {
  t.strictSame(forward({}, withNote('See below.')), {
    subject: 'Fwd: Figures',
    text: `See below.\n\n${header}\n\nHello\n> quoted\n`,
    html: null,
    files: [],
  });
});

t.test('no note, an empty and a blank one are the same', async t => {
  for (const note of [null, '', ' \n']) {
    t.equal(forward({}, withNote(note)).text, `${header}\n\nHello\n> quoted\n`, JSON.stringify(note));
  }
});

t.test('the header block has From, Date when there is one, Subject, To and Cc, and never Bcc', async t => {
  const { text } = forward({
    from: null,
    date: null,
    subject: null,
    to: [
      {
        name: 'Team',
        group: [
          { name: 'B', address: 'b@b.example' },
          { name: '', address: 'c@c.example' },
        ],
      },
    ],
    cc: [
      { name: 'Boss <boss@bank.example>', address: 'x@evil.example' },
      { name: 'Name only', address: '' },
      { name: 'none', group: [] },
    ],
    text: null,
    ...{ bcc: [{ name: '', address: 'hidden@h.example' }] },
  });
  t.equal(
    text,
    [
      '---------- Forwarded message ----------',
      'From: (unknown)',
      'Subject: (no subject)',
      'To: Team: B <b@b.example>, c@c.example;',
      'Cc: "Boss <boss@bank.example>" <x@evil.example>, Name only, none: ;',
    ].join('\n'),
  );
  t.match(forward({ to: [] }).text, /Subject: Figures\n\nHello/);
});

t.test(
  'a date that did not parse is shown as it was written, and no value makes a line of its own',
  async t => {
    for (const date of ['yesterday', '2026-13-45T99:99:99Z']) {
      t.match(forward({ date }).text, `\nDate: ${date}\n`);
    }
    const evil = 'x\r\nBcc: evil@e.example\u2028y';
    const { text } = forward({ from: { name: evil, address: evil }, subject: evil, date: evil });
    t.equal(text.split(/[\n\r\u2028]/).filter(line => line.startsWith('Bcc')).length, 0);
  },
);

t.test('HTML is kept as stored behind note and header block', async t => {
  const { html, text } = forward({ html: '<p>Hello</p>' }, withNote('1 < 2\n"&"'));
  t.equal(
    html,
    [
      '<p>1 &lt; 2<br>',
      '&quot;&amp;&quot;</p>',
      '<p>---------- Forwarded message ----------<br>',
      '<b>From:</b> Ann &lt;ann@a.example&gt;<br>',
      '<b>Date:</b> Sat, 28 Nov 2026 02:13:00 +0000<br>',
      '<b>Subject:</b> Figures<br>',
      '<b>To:</b> agent@example.org</p>',
      '<p>Hello</p>',
    ].join('\n'),
  );
  t.equal(text, `1 < 2\n"&"\n\n${header}\n\nHello\n> quoted\n`, 'the text stays the one of the original');
});

t.test('in a whole document they stand where its visible part begins', async t => {
  for (const [before, after] of [
    [
      '<!DOCTYPE html><html><head><title><body></title></head><!-- <body> --><body class=">">',
      'Hello</body></html>',
    ],
    ['<html><head><style>body > p {}</style></head>', '<p>Hello</p></html>'],
    ['<meta charset="utf-8"><style></style>', ' Hello <body>'],
    ['<!-- generated -->', '\n<div>Hello</div>'],
    ['<HTML>', 'Hello'],
    ['<html><head><title>never closed</head><body>Hello', ''],
  ] as const) {
    const { html } = forward({ html: before + after });
    t.equal(html?.startsWith(`${before}\n<p>---------- Forwarded`), true, before);
    t.equal(html?.endsWith(`</p>\n${after}`), true, before);
  }
});

t.test('an original that has only HTML gets a text', async t => {
  const { text, html } = forward({ text: null, html: '<h1>Hello</h1><script>x</script>you &amp; me' });
  t.equal(text, `${header}\n\nHello\n\nyou & me`);
  t.match(html, '<h1>Hello</h1><script>x</script>you &amp; me');
});

t.test('a text in which nothing can be seen gives way to the words of the HTML', async t => {
  for (const blank of [
    '',
    ' \r\n\t',
    '\u00a0',
    '\u200b\n\u200b',
    '\ufeff',
    '\u00ad\u2060\u200d',
    '\u034f \u2800',
    '\u200b'.repeat(100_000),
    ` ${'\u{e0001}'.repeat(50_000)}`,
  ]) {
    const what = JSON.stringify(blank.slice(0, 20));
    t.equal(forward({ text: blank, html: '<p>Hello</p>' }).text, `${header}\n\nHello`, what);
  }
  t.equal(forward({ text: ' .', html: '<p>Hello</p>' }).text, `${header}\n\n .`);
  const late = `${'\u200b'.repeat(100_000)}.`;
  t.equal(forward({ text: late, html: '<p>Hello</p>' }).text, `${header}\n\n${late}`);
  t.equal(forward({ text: ' ', html: '<p> </p>' }).text, `${header}\n\n `);
  t.equal(forward({ text: ' ', html: null }).text, `${header}\n\n `);
});

t.test('a sent message is forwarded as a received one is', async t => {
  const sent = {
    from: { address: 'agent@example.org', name: 'Agent' },
    to: [{ address: 'ann@a.example' }],
    cc: [{ address: 'bob@b.example', name: 'Bob' }],
    bcc: [{ address: 'hidden@h.example' }],
    subject: 'Figures',
    date: Date.UTC(2026, 10, 28, 2, 13),
    text: 'Hello',
    html: null,
    files: [
      { id: 'f1', filename: 'a.png', type: 'image/png', disposition: 'inline', contentId: 'p1' },
      { id: 'f2', filename: 'b.txt', type: 'text/plain', disposition: 'attachment' },
    ],
  } as const;
  t.strictSame(forward(sentAsForwardSource(sent)), {
    subject: 'Fwd: Figures',
    text: [
      '---------- Forwarded message ----------',
      'From: Agent <agent@example.org>',
      'Date: Sat, 28 Nov 2026 02:13:00 +0000',
      'Subject: Figures',
      'To: ann@a.example',
      'Cc: Bob <bob@b.example>',
      '',
      'Hello',
    ].join('\n'),
    html: null,
    files: [
      { sourceId: 'f1', filename: 'a.png', type: 'image/png', disposition: 'inline', contentId: 'p1' },
      { sourceId: 'f2', filename: 'b.txt', type: 'text/plain', disposition: 'attachment' },
    ],
  });
});

t.test('bodies that no message can hold are refused before anything is made of them', async t => {
  const options = { note: null, includeAttachments: true };
  const half = 'x'.repeat(2.5 * 2 ** 20);
  t.ok(resultOf(() => forward({ text: half, html: half }, options)).ok);
  const refused = resultOf(() => forward({ text: half, html: `${half}x` }, options));
  t.match(refused, {
    failure: { code: 'message_too_large', message: /over 5 MiB/ },
  });
});

t.test('for any text and HTML the original is in the forward, whole', async t => {
  const html = fc.array(
    fc.constantFrom('<body>', '<html>', '</head>', '<p>', 'x', '<!--', '-->', '<', '"', ' '),
  );
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), html, fc.string(), (text, pieces, note) => {
        const original = pieces.join('');
        const derived = forward({ text, html: original }, withNote(note));
        const before = derived.html?.indexOf('<p>---------- Forwarded') ?? 0;
        const block = /<p>-+ Forwarded(?:.|\n)*?<\/p>\n/.exec(derived.html ?? '')?.[0] ?? '';
        const end = derived.html?.slice(before + block.length) ?? '';
        return (
          (/^[\s\p{Cc}]*$/u.test(text) || derived.text.endsWith(`\n\n${text}`)) &&
          original.endsWith(end) &&
          derived.html?.startsWith(original.slice(0, original.length - end.length)) === true
        );
      }),
      { numRuns: 500 },
    ),
  );
});
