import fc from 'fast-check';
import t from 'tap';
import { excerptOf } from '../../../../src/domain/excerpts/excerpt.js';
import { receivedExcerpt, sentExcerpt } from '../../../../src/domain/excerpts/excerpts-of-content.js';
import { startOfBodies } from '../../../../src/domain/excerpts/json-start.js';
import { placesOf } from '../../../../src/domain/excerpts/kept-excerpt.js';
import { newWordsOf } from '../../../../src/domain/excerpts/new-words.js';
import { atOnce } from '../../../../src/lib/slices.js';

const lines = fc.constantFrom(
  'Hello "you"',
  'a\\b\tc',
  'Grüße \u{1f600}',
  'half \ud800 of a pair',
  '\u0001\u2028',
  '',
  '',
  '> quoted',
  '-- ',
  'On 3/4/26 10:00, Alex Doe <alex@a.example> wrote:',
  'From: Alex',
  'Subject: x',
  'To: Kim',
  '---------- Forwarded message ---------',
);
const texts = fc
  .tuple(fc.array(lines, { maxLength: 30 }), fc.constantFrom('\n', '\r\n'))
  .map(([all, end]) => all.join(end));

/** What a client is shown. */
function shown(json: Buffer, newWords: string): unknown {
  const places = placesOf(newWords);
  if (places === null) return JSON.parse(newWords);
  return JSON.parse(`"${places.map(([start, end]) => json.toString('utf8', start, end)).join('')}"`);
}

t.test('pieces of the JSON of a text are the JSON of the new words in it', async () => {
  fc.assert(
    fc.property(texts, fc.string(), (text, subject) => {
      const parts = atOnce(newWordsOf(text, false));
      const expected = parts
        .map(({ start, end }) => text.slice(start, end))
        .join('')
        .toWellFormed();
      const content = { subject, references: '",\\"text\\":"', date: null, text, html: null };
      const json = Buffer.from(JSON.stringify(content));
      const { newWords } = atOnce(receivedExcerpt(json, { ...content, subject: null }));
      const bodies = Buffer.from(JSON.stringify({ text: `${text}\n\nSent via X`, html: '' }));
      const sent = atOnce(sentExcerpt('', text));
      return (
        String(shown(json, newWords)).toWellFormed() === expected &&
        String(shown(bodies, sent.newWords)).toWellFormed() === expected
      );
    }),
  );
});

t.test('parts are in order, do not meet, and begin and end with words', async () => {
  fc.assert(
    fc.property(texts, text => {
      const parts = atOnce(newWordsOf(text, false));
      const isOrdered = parts.every(
        ({ start, end }, at) => start < end && start >= (parts[at - 1]?.end ?? 0),
      );
      const whole = parts.map(({ start, end }) => text.slice(start, end)).join('');
      return isOrdered && whole === whole.trimEnd() && !/^\s*\n/.test(whole);
    }),
  );
});

t.test('of the first bytes of a content, whole characters are read', async t => {
  fc.assert(
    fc.property(texts, texts, fc.nat(2_000), (text, html, cutAt) => {
      const json = Buffer.from(
        JSON.stringify({
          subject: 'x',
          text: text.toWellFormed(),
          html: html.toWellFormed(),
          attachments: [],
        }),
      );
      const start = json.subarray(0, Math.max(cutAt, 25));
      const bodies = startOfBodies(start);
      const isWhole = start.length === json.length;
      if (!text.toWellFormed().startsWith(bodies.text ?? '')) return false;
      if (!html.toWellFormed().startsWith(bodies.html ?? '')) return false;
      return (
        !isWhole ||
        (bodies.text === text.toWellFormed() && bodies.html === html.toWellFormed() && bodies.cut === null)
      );
    }),
  );
  t.strictSame(startOfBodies(Buffer.from('{"subject":null,"text":null,"html":"<p>')), {
    text: null,
    html: '<p>',
    cut: 'html',
  });
});

t.test('of a text that is cut, nothing is told', async t => {
  t.match(atOnce(excerptOf({ subject: null, text: 'a', html: null, cut: 'text' })), {
    newWords: null,
    preview: { source: 'text' },
  });
  t.match(atOnce(excerptOf({ subject: null, text: 'a', html: '<p>', cut: 'html' })), {
    newWords: [{ start: 0, end: 1 }],
  });
  t.match(atOnce(excerptOf({ subject: null, text: null, html: '<p>a', cut: 'html' })), {
    newWords: null,
    preview: { text: 'a', source: 'html' },
  });
});
