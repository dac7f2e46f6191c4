import fc from 'fast-check';
import type { UpdateDraft } from '../../../../src/contract/drafts.js';
import { DAY_MS } from '../with-house.js';

/** Letter case, blank names and repeats all occur. */
const mailbox = fc
  .record({
    address: fc.constantFrom('ann@x.example', 'Ann@x.example', 'bob@y.example'),
    name: fc.constantFrom(undefined, '', ' ', ' Ann ', 'Bö\u{1f600}b'),
  })
  .map(({ address, name }) => (name === undefined ? { address } : { address, name }));

/** Now and then too many with what is there already, or one that cannot be. */
const mailboxes = fc.oneof(
  { weight: 10, arbitrary: fc.array(mailbox, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constant(Array.from({ length: 26 }, () => ({ address: 'many@x.example' }))) },
  { weight: 1, arbitrary: fc.constant([{ address: 'no address' }]) },
);

/** Short ones lie beside the record, long ones in chunks. */
const text = fc.constantFrom(
  '',
  ' ',
  'Hello',
  'Grüße \u{1f600}\r\n.',
  'x'.repeat(66_000),
  'é'.repeat(70_000),
);

const file = fc.record({
  filename: fc.constantFrom('a.txt', 'ü.bin'),
  type: fc.constantFrom('text/plain', 'application/octet-stream'),
  content: fc.constantFrom('', 'QQ==', Buffer.alloc(90_000, 7).toString('base64')),
});

const fields: fc.Arbitrary<UpdateDraft> = fc.record(
  {
    to: mailboxes,
    cc: mailboxes,
    bcc: mailboxes,
    subject: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom('', ' ', 'Notes', '"attachments":[]', 'ü'.repeat(499)) },
      { weight: 1, arbitrary: fc.constantFrom('a\nb', 'ü'.repeat(500)) },
    ),
    text,
    html: fc.oneof(fc.constant(null), text),
    attachments: fc.oneof(fc.constant(null), fc.array(file, { maxLength: 2 })),
    labels: fc.oneof(
      { weight: 9, arbitrary: fc.array(fc.constantFrom('a', ' a ', 'A', 'é', '\u{ff5e}'), { maxLength: 3 }) },
      { weight: 1, arbitrary: fc.constant(['']) },
    ),
  },
  { requiredKeys: [] },
);

/** Something that can be sent, more often than chance would have it. */
const complete: fc.Arbitrary<UpdateDraft> = fc
  .tuple(fields, fc.array(mailbox, { minLength: 1, maxLength: 3 }))
  .map(([given, to]) => ({ ...given, to, subject: 'Notes', text: 'Hello' }));

/** A draft is picked among all that ever were: many are gone. */
const pick = fc.nat(1_000);
const isStranger = fc.integer({ min: 0, max: 19 }).map(n => n === 0);
const key = fc.oneof(
  { weight: 2, arbitrary: fc.constant(undefined) },
  { weight: 3, arbitrary: fc.constantFrom('k1', 'k2', 'k3') },
);
const slot = fc.nat(1);
const outcome = fc.constantFrom('accepted', 'rejected', 'unknown' as const);

export const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('create'),
      slot,
      isStranger,
      key,
      fields: fc.oneof(fields, complete),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('createAgain'), key }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('edit'), pick, isStranger, fields }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete'), pick, isStranger }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('send'), pick, isStranger, key, outcome }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('trashSent', 'restoreSent', 'deleteSent'), pick }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('wait'),
      ms: fc.constantFrom(0, 1, 61_000, DAY_MS - 1, DAY_MS, 8 * DAY_MS),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('sweep') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deleteInbox'), slot }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('ask'), limit: fc.integer({ min: 1, max: 5 }) }) },
);
export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
