import fc from 'fast-check';

/** Few of each, so that messages collide, in several scripts. */
export const WORDS = ['alpha', 'Beta', 'gamma', 'Straße', 'été', '東京都', '都市', '한국어', 'x1'] as const;
export const LABELS = ['a', 'b'] as const;
const TERMS = [
  ...WORDS,
  'strasse',
  'ETE',
  '東京',
  '都',
  '"alpha beta"',
  '"Beta gamma alpha"',
  'delta',
] as const;

/** A message is picked among all that ever were: many are gone. */
const pick = fc.nat(1_000);
const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 6 }).map(words => words.join(' '));
const kind = fc.constantFrom('received' as const, 'sent' as const);

export const question = fc.record({
  query: fc.array(fc.constantFrom(...TERMS), { minLength: 1, maxLength: 2 }).map(terms => terms.join(' ')),
  all: fc.array(fc.constantFrom(...LABELS), { maxLength: 1 }),
  none: fc.array(fc.constantFrom(...LABELS), { maxLength: 1 }),
  subject: fc.option(fc.constantFrom(...WORDS), { freq: 4 }),
  after: fc.option(pick, { freq: 4 }),
  order: fc.constantFrom('newest' as const, 'oldest' as const, 'relevance' as const),
  limits: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 3 }),
  kind,
});
export type Question = typeof question extends fc.Arbitrary<infer Value> ? Value : never;

export const step = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      step: fc.constant('mail'),
      kind,
      isOther: fc.nat(9).map(n => n === 0),
      subject: text,
      text,
      conversation: fc.constantFrom('one@x', 'two@x', 'three@x'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      step: fc.constant('label'),
      pick,
      add: fc.constantFrom(...LABELS),
      remove: fc.constantFrom(...LABELS, null),
    }),
  },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('trash'), pick }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('restore'), pick }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('delete'), pick }) },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('takeIn'), limit: fc.constantFrom(1, 3, 1_000) }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('die'), isTaken: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('lose') }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('wait'), ms: fc.constantFrom(0, 1, 1_000) }) },
  { weight: 4, arbitrary: fc.record({ step: fc.constant('ask'), question }) },
);
export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
