import fc from 'fast-check';
import t from 'tap';
import { forwardSubject, replySubject } from '../../../../src/domain/reply.js';
import { utf8Prefix } from '../../../../src/domain/text.js';

t.test('a reply says Re: once', async t => {
  for (const [subject, expected] of [
    ['Hello', 'Re: Hello'],
    ['Re: Hello', 'Re: Hello'],
    ['RE:Hello', 'RE:Hello'],
    ['re  : Hello', 're  : Hello'],
    [' Re: Hello ', 'Re: Hello'],
    ['Re[2]: Hello', 'Re: Re[2]: Hello'],
    ['Regarding: Hello', 'Re: Regarding: Hello'],
    ['Fwd: Hello', 'Re: Fwd: Hello'],
    [null, 'Re: (no subject)'],
    ['', 'Re: (no subject)'],
    [' \u0000 ', 'Re: (no subject)'],
    ['Hello\r\nBcc: x', 'Re: Hello Bcc: x'],
  ] as const) {
    t.equal(replySubject(subject), expected, JSON.stringify(subject));
  }
});

t.test('a forward says Fwd: unless it says so already', async t => {
  for (const [subject, expected] of [
    ['Hello', 'Fwd: Hello'],
    ['Fwd: Hello', 'Fwd: Hello'],
    ['FW:Hello', 'FW:Hello'],
    ['fwd: Hello', 'fwd: Hello'],
    ['Fwd Hello', 'Fwd: Fwd Hello'],
    ['Re: Fwd: Hello', 'Fwd: Re: Fwd: Hello'],
    [null, 'Fwd: (no subject)'],
  ] as const) {
    t.equal(forwardSubject(subject), expected, JSON.stringify(subject));
  }
});

t.test('a long one is shortened at its end, between characters', async t => {
  t.equal(replySubject('x'.repeat(998)), `Re: ${'x'.repeat(994)}`);
  t.equal(replySubject('é'.repeat(499)), `Re: ${'é'.repeat(497)}`);
  t.equal(replySubject(`xyz${'\u{1f600}'.repeat(300)}`), `Re: xyz${'\u{1f600}'.repeat(247)}`);
});

t.test('whatever the subject of the original is', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(
        fc.option(fc.string({ unit: 'binary', maxLength: 1200, size: 'max' })),
        fc.constantFrom(replySubject, forwardSubject),
        (subject, derive) => {
          const derived = derive(subject);
          return (
            derived.trim() === derived &&
            /^(re|fwd?)\s*:/i.test(derived) &&
            derived.isWellFormed() &&
            !/\p{Cc}/u.test(derived) &&
            Buffer.byteLength(derived) <= 998 &&
            derive(derived) === derived
          );
        },
      ),
    ),
  );
});

t.test('the beginning of a text is the longest that fits', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, maxBytes) => {
        let expected = '';
        for (const char of text) {
          if (Buffer.byteLength(expected + char) > maxBytes) break;
          expected += char;
        }
        return utf8Prefix(text, maxBytes) === expected;
      }),
    ),
  );
});
