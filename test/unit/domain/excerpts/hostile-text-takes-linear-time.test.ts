import t from 'tap';
import { excerptOf } from '../../../../src/domain/excerpts/excerpt.js';

/** Lines that make a rule look at others, or a pattern try many ways. */
const LINES = [
  ':',
  '1:',
  'On 1.1.2026 10:00 a@b.example',
  'From: x',
  `-- forwarded message ${'-'.repeat(130)}x`,
  `--${' '.repeat(500)}original message`,
  '--',
  '> ',
  `${'a'.repeat(599)}:`,
  `${'1 '.repeat(290)}:`,
  `sent from my ${'x'.repeat(100)}`,
  '\u200b\u00ad',
  ' ',
];

/** Steps of the work: what would take quadratic time has no bound that grows like the text. */
t.test('work ends for every text of the longest kind', async t => {
  for (const line of LINES) {
    const text = `${line}\n`.repeat(Math.floor((256 * 1024) / (line.length + 1)));
    const work = excerptOf({ subject: 'Re: x', text, html: null });
    let longestMs = 0;
    for (let isDone = false; !isDone; ) {
      const startedAt = performance.now();
      isDone = work.next().done === true;
      longestMs = Math.max(longestMs, performance.now() - startedAt);
    }
    t.comment(`${JSON.stringify(line.slice(0, 20))}: at most ${longestMs.toFixed(1)} ms at once`);
  }
  for (const part of [
    '<blockquote type=cite>',
    '<div class="gmail_signature">',
    '<div class=x',
    '&gt;<p>',
    '<p>a</p>',
  ]) {
    const html = part.repeat(Math.floor((1024 * 1024) / part.length));
    const startedAt = performance.now();
    for (const work = excerptOf({ subject: 'Re: x', text: null, html }); work.next().done !== true; );
    t.comment(`${part}: ${(performance.now() - startedAt).toFixed(0)} ms`);
  }
  t.pass('all of it ended');
});
