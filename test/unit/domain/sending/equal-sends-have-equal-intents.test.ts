import fc from 'fast-check';
import t from 'tap';
import type { SendInput } from '../../../../src/contract/sending.js';
import { normaliseSubmission } from '../../../../src/domain/send-input.js';
import { explicitSendIntent } from '../../../../src/domain/send-intent.js';

const INBOX = '0190b1f0-0000-7000-8000-000000000001';
const intent = (input: SendInput, inbox = INBOX) => explicitSendIntent(inbox, normaliseSubmission(input));

const name = fc.constantFrom(undefined, '', ' ', 'Ann', ' Ann ', 'ann');
const mailbox = fc
  .record({ address: fc.constantFrom('ann@x.example', 'Ann@x.example', 'bob@x.example'), name })
  .map(({ address, name }) => (name === undefined ? { address } : { address, name }));
const named = {
  filename: fc.constantFrom('a.txt', 'b.txt'),
  type: fc.constantFrom('text/plain', 'text/csv'),
};
const id = fc.constantFrom('0190b1f0-0000-7000-8000-00000000000c', '0190b1f0-0000-7000-8000-00000000000d');
const file = fc.oneof(
  fc.record({ ...named, content: fc.constantFrom('', 'QQ==', 'QUJD') }),
  fc.record({ ...named, upload_id: id }),
  fc.record(
    { ...named, message_id: id, attachment_id: fc.constantFrom('1', '2') },
    { requiredKeys: ['message_id', 'attachment_id'] },
  ),
);
const submission = fc.record(
  {
    to: fc.array(mailbox, { minLength: 1, maxLength: 3 }),
    cc: fc.array(mailbox, { maxLength: 2 }),
    bcc: fc.array(mailbox, { maxLength: 2 }),
    subject: fc.constantFrom('Notes', 'notes', 'Notes '),
    text: fc.constantFrom('Hello', 'Hello ', 'hello'),
    html: fc.constantFrom('<p>Hello</p>', ''),
    attachments: fc.oneof(fc.constant(null), fc.array(file, { maxLength: 2 })),
    in_reply_to: fc.constantFrom(
      '0190b1f0-0000-7000-8000-00000000000a',
      '0190b1f0-0000-7000-8000-00000000000b',
    ),
    labels: fc.array(fc.constantFrom('a', 'b', ' a ', 'A'), { maxLength: 4 }),
  },
  { requiredKeys: ['to', 'subject', 'text'] },
);

/** The fields that decide whether two sends are equal. */
function meaning(input: SendInput): string {
  const mailboxes = (list: SendInput['cc']) =>
    (list ?? []).map(({ address, name }) => ({ address, name: (name ?? '').trim() }));
  return JSON.stringify({
    to: mailboxes(input.to),
    cc: mailboxes(input.cc),
    bcc: mailboxes(input.bcc),
    subject: input.subject,
    text: input.text,
    html: input.html === undefined ? 'none' : `html ${input.html}`,
    attachments: (input.attachments ?? []).map(file => Object.entries(file).sort()),
    inReplyTo: input.in_reply_to ?? '',
    labels: [...new Set((input.labels ?? []).map(label => label.trim()))].sort(),
  });
}

t.test('two sends have one intent exactly when they mean the same', async t => {
  fc.assert(
    fc.property(submission, submission, (a, b) => {
      return (intent(a) === intent(b)) === (meaning(a) === meaning(b));
    }),
    { numRuns: 3000 },
  );
  t.pass('held for 3,000 pairs');
});

t.test(
  'what does not matter does not: order of properties, of labels, what is left out or empty',
  async t => {
    const shuffled = (input: object) =>
      Object.fromEntries(Object.entries(input).reverse()) as unknown as SendInput;
    fc.assert(
      fc.property(submission, input => {
        const same: SendInput = {
          ...input,
          cc: input.cc ?? [],
          bcc: input.bcc ?? [],
          attachments: input.attachments ?? [],
          labels: [...(input.labels ?? []), ...(input.labels ?? [])].reverse(),
        };
        return intent(shuffled(same)) === intent(input);
      }),
      { numRuns: 1000 },
    );
    t.pass('held for 1,000 sends');
  },
);

t.test('another inbox is another intent', async t => {
  const input = { to: [{ address: 'ann@x.example' }], subject: 'Notes', text: 'Hello' };
  t.not(intent(input), intent(input, INBOX.replace(/1$/, '2')));
});
