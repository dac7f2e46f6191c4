/**
 * Texts that look like mail: words by Zipf's law from a vocabulary of 60,000, in sentences and paragraphs, with names,
 * dates and numbers. The same index gives the same text.
 */

const VOCABULARY = 60_000;
const SYLLABLES = 'ba ce di fo gu la me ni po ru sa te vi xo zu tra ble con pre sta'.split(' ');
const COMMON =
  'the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which you we all her she there would their will when who him been has more if no out so said what up its about into than them can only other new some could time these two may then do first any my now such like our over man me even most made after also did many before must through years where much your way well down should because each just those people how too little state good very make world still own see men work long get here between both life being under never day same another know while last might us great old year off come since against go came right used take three'.split(
    ' ',
  );

/** Pseudo-random numbers in [0, 1) that follow from a seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e37_79b1);
  return () => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const vocabulary: readonly string[] = makeVocabulary();

function makeVocabulary(): string[] {
  const random = randomFrom(7);
  const words = new Set(COMMON);
  while (words.size < VOCABULARY) {
    const length = 2 + Math.floor(random() * 3);
    let word = '';
    for (let at = 0; at < length; at++) word += SYLLABLES[Math.floor(random() * SYLLABLES.length)];
    words.add(random() < 0.3 ? `${word}s` : word);
  }
  return [...words];
}

/** The word of this rank, the most frequent first. */
export function wordOfRank(rank: number): string {
  return vocabulary[rank] ?? '';
}

/** Zipf's law with exponent 1: the rank is `VOCABULARY ** u`. */
function anyWord(random: () => number): string {
  return wordOfRank(Math.floor(VOCABULARY ** random()) - 1);
}

/** In one of so many messages. */
export const RARE_EVERY = 20_000;

export interface MailText {
  readonly subject: string;
  readonly text: string;
}

/** Subject and body of the message of this number: some 40 to 260 words. */
export function textOf(index: number): MailText {
  const random = randomFrom(index);
  const words = (count: number): string[] => Array.from({ length: count }, () => anyWord(random));
  const paragraphs: string[] = [];
  for (let left = 40 + Math.floor(220 * random() ** 2); left > 0; ) {
    const sentence = words(Math.min(left, 6 + Math.floor(random() * 14)));
    left -= sentence.length;
    const line = sentence.join(' ');
    paragraphs.push(`${line.charAt(0).toUpperCase()}${line.slice(1)}${random() < 0.3 ? '.\n\n' : '. '}`);
  }
  const rare = index % RARE_EVERY === 11 ? ' It is about the kumquat.' : '';
  const number = `Invoice ${100_000 + index} of ${1 + Math.floor(random() * 28)} March`;
  return {
    subject: `${words(3 + Math.floor(random() * 4)).join(' ')}, ${number}`,
    text: `Hello,\n\n${paragraphs.join('')}${rare}\n\nRegards\nPerson ${Math.floor(random() * 2_000)}\n`,
  };
}
