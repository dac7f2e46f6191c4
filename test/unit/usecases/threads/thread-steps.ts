import fc from 'fast-check';
import { ADDRESSES, LABELS, question, SUBJECTS } from '../mailbox/mailbox-steps.js';
import { DAY_MS } from '../with-house.js';

/** Few, so that messages are related. */
const KEYS = Array.from({ length: 14 }, (_, n) => `${n}@mail.example`);

const pick = fc.nat(1_000);
const slot = fc.nat(1);
const isStranger = fc.integer({ min: 0, max: 19 }).map(n => n === 0);
const key = fc.constantFrom(...KEYS);

const ids = fc.record({
  messageId: fc.oneof({ weight: 4, arbitrary: key }, { weight: 1, arbitrary: fc.constant(null) }),
  references: fc.array(key, { maxLength: 2 }),
  inReplyTo: fc.array(key, { maxLength: 1 }),
});

const change = fc.record({
  add: fc.array(fc.constantFrom(...LABELS), { maxLength: 2 }),
  remove: fc.array(fc.constantFrom(...LABELS), { maxLength: 2 }),
});

const on = <Kind extends string>(kind: Kind) => fc.record({ kind: fc.constant(kind), pick, isStranger });
const subject = fc.constantFrom(...SUBJECTS);
const address = fc.constantFrom(...ADDRESSES);

export const threadStep = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('deliver'), slot }) },
  {
    weight: 7,
    arbitrary: fc.record({
      kind: fc.constant('publish'),
      pick,
      ids,
      subject,
      senders: fc.uniqueArray(address, { maxLength: 1 }),
      recipients: fc.uniqueArray(address, { maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail'), pick }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reparse'), pick }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('send'),
      slot,
      ids,
      subject: subject.map(text => text ?? 'no subject'),
      to: fc.uniqueArray(address, { minLength: 0, maxLength: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('settle'),
      pick,
      status: fc.constantFrom('accepted' as const, 'rejected' as const, 'unknown' as const),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('label'), pick, change }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('labelThread'), pick, isStranger, change }) },
  { weight: 3, arbitrary: on('trash') },
  { weight: 4, arbitrary: on('restore') },
  { weight: 2, arbitrary: on('delete') },
  { weight: 2, arbitrary: on('deleteThread') },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('wait'),
      ms: fc.constantFrom(0, 1, 1, 5, -3, 1_000, DAY_MS, 7 * DAY_MS),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('sweep') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen') }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('ask'), question }) },
);
export type ThreadStep = typeof threadStep extends fc.Arbitrary<infer Value> ? Value : never;
