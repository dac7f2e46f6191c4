import t from 'tap';
import { excerptOf } from '../../../../src/domain/excerpts/excerpt.js';
import { atOnce } from '../../../support/at-once.js';
import {
  APPLE,
  FORWARDS,
  GMAIL,
  MOBILE,
  NO_QUOTES,
  OUTLOOK,
  type TextForm,
  THUNDERBIRD,
} from './text-forms.js';

/** As an agent reads them. */
function newWordsOf({ text, subject = 'Re: Your visit' }: Pick<TextForm, 'text' | 'subject'>): string | null {
  const { newWords } = atOnce(excerptOf({ subject, text, html: null }));
  if (newWords === null || typeof newWords === 'string') return newWords;
  return newWords.map(({ start, end }) => text.slice(start, end)).join('');
}

for (const [name, forms] of Object.entries({ GMAIL, APPLE, THUNDERBIRD, OUTLOOK, MOBILE })) {
  t.test(`answers as written with ${name.toLowerCase()}`, async t => {
    for (const form of forms) t.equal(newWordsOf(form), form.newWords, form.program);
  });
}

t.test('what is passed on is kept, with what that quotes', async t => {
  for (const form of FORWARDS) t.equal(newWordsOf(form), form.newWords, form.program);
});

t.test('what only looks like a quote, a signature or a footer is kept', async t => {
  for (const form of NO_QUOTES)
    t.equal(newWordsOf({ ...form, subject: 'Hello' }), form.newWords, form.program);
});

t.test('an answer to what was passed on has its quote left out', async t => {
  const text =
    'Thanks.\n\nFrom: Alex <alex@a.example>\nSent: Wednesday, March 4, 2026 10:00\nTo: Kim\nSubject: FW: Your visit\n\nSee below.';
  t.equal(newWordsOf({ text, subject: 'RE: FW: Your visit' }), 'Thanks.');
});

t.test('where there are no new words there is an empty text', async t => {
  for (const text of ['', ' \n\n', '> only\n> this', 'On 3/4/26 10:00, Alex wrote:\n> this', '-- \nKim']) {
    t.equal(newWordsOf({ text }), '', JSON.stringify(text));
  }
});

t.test('where a text is too long nobody looks for quotes', async t => {
  t.equal(newWordsOf({ text: 'a'.repeat(256 * 1024 + 1) }), null);
  t.equal(newWordsOf({ text: 'a'.repeat(256 * 1024) })?.length, 256 * 1024);
});
