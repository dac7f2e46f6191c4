import { createHash } from 'node:crypto';
import t from 'tap';
import { PHRASE_WORDS } from '../../../../src/domain/phrase-words.js';
import { hashClaimPhrase, newClaimPhrase } from '../../../../src/domain/secrets.js';

t.test('the list has 2,048 words, sorted, each once, of 4 to 8 letters', async t => {
  t.equal(PHRASE_WORDS.length, 2048);
  t.same(PHRASE_WORDS, [...new Set(PHRASE_WORDS)].sort());
  t.same(
    PHRASE_WORDS.filter(word => !/^[a-z]{4,8}$/.test(word)),
    [],
  );
});

t.test(
  'four letters tell a word from all others, and no slip of one letter makes one of another',
  async t => {
    t.equal(new Set(PHRASE_WORDS.map(word => word.slice(0, 4))).size, 2048);
    // Each word without one of its letters: two words that share such a form at the same place differ in one letter.
    const forms = new Map<string, string>();
    for (const word of PHRASE_WORDS) {
      for (let at = 0; at < word.length; at++) {
        const form = `${word.slice(0, at)}?${word.slice(at + 1)}`;
        t.notOk(forms.has(form), `${word} and ${forms.get(form)}`);
        forms.set(form, word);
      }
    }
  },
);

t.test('a phrase is six of them, each drawn from all', async t => {
  const phrases = Array.from({ length: 4000 }, newClaimPhrase);
  t.equal(new Set(phrases).size, phrases.length);
  const drawn = new Set<string>();
  for (const phrase of phrases) {
    const words = phrase.split(' ');
    t.equal(words.length, 6);
    for (const word of words) drawn.add(word);
  }
  // A given word is missing from 24,000 draws with a probability of about 1 in 100,000.
  t.ok(drawn.size > 2030, `${drawn.size} words were drawn`);
  t.ok([...drawn].every(word => PHRASE_WORDS.includes(word)));
});

t.test('letter case and white space do not matter, everything else does', async t => {
  const phrase = 'ocean dolphin violet bridge candle harvest';
  const hash = hashClaimPhrase(phrase);
  t.ok(hash.equals(createHash('sha256').update(phrase).digest()), 'so that stores of other versions agree');
  for (const same of [
    `  ${phrase}\n`,
    phrase.toUpperCase(),
    phrase.replaceAll(' ', ' \t\r\n '),
    phrase.replaceAll(' ', '\u00a0'),
  ]) {
    t.ok(hashClaimPhrase(same).equals(hash), JSON.stringify(same));
  }
  for (const other of ['', phrase.replaceAll(' ', ''), phrase.replaceAll(' ', '-'), `${phrase} ocean`]) {
    t.notOk(hashClaimPhrase(other).equals(hash), JSON.stringify(other));
  }
});
