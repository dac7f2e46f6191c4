import t from 'tap';
import { excerptOf } from '../../../../src/domain/excerpts/excerpt.js';
import { atOnce } from '../../../../src/lib/slices.js';
import { HTML_FORMS } from './html-forms.js';

const excerpt = (subject: string, text: string | null, html: string) =>
  atOnce(excerptOf({ subject, text, html }));

t.test('answers as mail programs write them', async t => {
  for (const { program, html, newWords, subject = 'Re: Your visit' } of HTML_FORMS) {
    t.equal(excerpt(subject, null, html).newWords, newWords, program);
  }
});

t.test('plain text counts where any can be seen', async t => {
  const html = '<p>As HTML</p>';
  t.strictSame(excerpt('a', 'As text', html).newWords, [{ start: 0, end: 7 }]);
  t.equal(excerpt('a', ' \n\u200b', html).newWords, 'As HTML');
});

t.test('what is too long is not told apart, and has a preview all the same', async t => {
  const long = `<p>Words ${'and words '.repeat(10_000)}</p>`;
  t.match(excerpt('a', null, long), { newWords: null, preview: { source: 'html', truncated: true } });
  t.match(excerpt('a', null, `<p>Words</p><!--${'x'.repeat(1024 * 1024)}-->`), {
    newWords: null,
    preview: { text: 'Words', source: 'html' },
  });
  t.match(excerpt('a', null, `<p>Words</p><!--${'x'.repeat(1000 * 1024)}-->`), { newWords: 'Words' });
});
