import fc from 'fast-check';
import { VERDICTS } from '../../../../src/contract/authentication.js';
import { DAY_MS } from '../with-house.js';

/** Few of each, so that messages collide; their orders by bytes, UTF-16 units and letter case all differ. */
export const LABELS = ['a', 'A', 'ab', 'b', 'é', '\u{ff5e}', '\u{1f600}', 'a,b', 'trash'] as const;
export const ADDRESSES = ['ann@x.example', 'bob@x.example', 'ann@y.example'] as const;
export const SUBJECTS = [null, '', 'Report', 'RE: report 7', 'ΟΔΟΣ', 'Οδοσα', '%_\u{1f600}'] as const;
const NEEDLES = ['report', 'RE', 'οδος', 'ΟΔΟΣ', '\u{1f600}', 'no such subject'] as const;

/** A message is picked among all that ever were: many are gone. */
const pick = fc.nat(1_000);
const label = fc.constantFrom(...LABELS);
const someLabels = fc.array(label, { maxLength: 3 });
/** A label as an agent may write it. */
const written = fc
  .tuple(fc.constantFrom('', ' ', '\n\t'), label, fc.constantFrom('', '  '))
  .map(parts => parts.join(''));

const change = fc.record({
  add: fc.array(written, { maxLength: 4 }),
  remove: fc.array(written, { maxLength: 3 }),
});

/** Conditions are few at a time: most combinations of many match nothing. */
function seldom<Value, None>(value: fc.Arbitrary<Value>, none: None): fc.Arbitrary<Value | None> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(none) }, { weight: 1, arbitrary: value });
}

/** An instant by a message's, so that bounds hit exactly. */
const bound = seldom(fc.record({ pick, shift: fc.constantFrom(-1, 0, 1) }), null);

export const question = fc.record({
  all: seldom(someLabels, []),
  any: seldom(someLabels, []),
  none: seldom(someLabels, []),
  from: seldom(fc.constantFrom(...ADDRESSES), null),
  recipient: seldom(fc.constantFrom(...ADDRESSES), null),
  subject: seldom(fc.constantFrom(...NEEDLES), null),
  authentication: seldom(fc.constantFrom(...VERDICTS), null),
  after: bound,
  before: bound,
  order: fc.constantFrom('newest' as const, 'oldest' as const),
  /** Sizes of the pages, in turn. */
  limits: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 3 }),
  prefix: fc.constantFrom<string>('', 'a', 'A', 'é', '\u{1f600}', 'zz'),
});
export type Question = typeof question extends fc.Arbitrary<infer Value> ? Value : never;

const slots = fc.uniqueArray(fc.nat(1), { minLength: 1, maxLength: 2 });
const isStranger = fc.integer({ min: 0, max: 19 }).map(n => n === 0);

const on = <Kind extends string>(kind: Kind) => fc.record({ kind: fc.constant(kind), pick, isStranger });

export const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('deliver'), slots }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('publish'),
      pick,
      senders: fc.uniqueArray(fc.constantFrom(...ADDRESSES), { maxLength: 2 }),
      recipients: fc.uniqueArray(fc.constantFrom(...ADDRESSES), { maxLength: 3 }),
      subject: fc.constantFrom(...SUBJECTS),
      /** Null: it was not looked for. */
      verdict: fc.constantFrom(...VERDICTS, null),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail'), pick }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('reparse'), pick }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('recheck'), pick, verdict: fc.constantFrom(...VERDICTS) }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('label'), pick, isStranger, change }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('batch'),
      picks: fc.array(pick, { minLength: 1, maxLength: 6 }),
      isStranger,
      change,
    }),
  },
  { weight: 4, arbitrary: on('trash') },
  { weight: 3, arbitrary: on('restore') },
  { weight: 2, arbitrary: on('delete') },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('wait'),
      ms: fc.constantFrom(0, 1, 5, -3, 1_000, DAY_MS, -DAY_MS, 3 * DAY_MS, 7 * DAY_MS),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('sweep') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deleteInbox'), slot: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen') }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('ask'), question }) },
);
export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
