import fc from 'fast-check';
import t from 'tap';
import type { CreateDraft, UpdateDraft } from '../../../../src/contract/drafts.js';
import type { ForwardInput, ReplyInput } from '../../../../src/contract/sending.js';
import { resultOf } from '../../../../src/domain/errors.js';
import {
  normaliseDraft,
  normaliseForward,
  normaliseReply,
  normaliseSource,
  normaliseSubmission,
} from '../../../../src/domain/send-input.js';
import {
  draftIntent,
  draftSendIntent,
  explicitSendIntent,
  forwardIntent,
  replyIntent,
} from '../../../../src/domain/send-intent.js';

const INBOX = '0190b1f0-0000-7000-8000-000000000001';
const A = '0190b1f0-0000-7000-8000-00000000000a';
const B = '0190b1f0-0000-7000-8000-00000000000b';

const mailbox = fc
  .record({
    address: fc.constantFrom('ann@x.example', 'Ann@x.example'),
    name: fc.constantFrom(undefined, '', ' Ann ', 'Ann'),
  })
  .map(({ address, name }) => (name === undefined ? { address } : { address, name }));
const named = { filename: fc.constantFrom('a.txt', 'b.txt'), type: fc.constant('text/plain') };
const file = fc.oneof(
  fc.record({ ...named, content: fc.constantFrom('', 'QQ==') }),
  fc.record({ ...named, upload_id: fc.constantFrom(A, B) }),
  fc.record(
    { ...named, message_id: fc.constantFrom(A, B), attachment_id: fc.constantFrom('1', '2') },
    { requiredKeys: ['message_id', 'attachment_id'] },
  ),
);
const files = fc.oneof(fc.constant(null), fc.array(file, { maxLength: 2 }));
const labels = fc.array(fc.constantFrom('a', 'b', ' a '), { maxLength: 3 });

type DraftSource = NonNullable<CreateDraft['source']>;

interface Creation {
  readonly fields: UpdateDraft;
  readonly source: DraftSource | undefined;
}

const fields: fc.Arbitrary<UpdateDraft> = fc.record(
  {
    to: fc.array(mailbox, { maxLength: 2 }),
    cc: fc.array(mailbox, { maxLength: 1 }),
    subject: fc.constantFrom('', 'Notes'),
    text: fc.constantFrom('', 'Hello', 'Hello '),
    html: fc.constantFrom(null, '<p>'),
    attachments: files,
    in_reply_to: fc.constantFrom(null, A),
    labels,
  },
  { requiredKeys: [] },
);
const source: fc.Arbitrary<DraftSource | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.record({
    action: fc.constantFrom('reply' as const, 'reply-all' as const),
    message_id: fc.constantFrom(A, B),
  }),
  fc.record(
    {
      action: fc.constant('forward' as const),
      message_id: fc.constant(A),
      include_attachments: fc.boolean(),
    },
    { requiredKeys: ['action', 'message_id'] },
  ),
);
const creation: fc.Arbitrary<Creation> = fc.record({ fields, source }).map(({ fields, source }) => {
  if (source?.action !== 'forward') return { fields, source };
  const { attachments: _attachments, html: _html, ...rest } = fields;
  return { fields: rest, source };
});

function intentOf({ fields, source }: Creation): string {
  const change = normaliseDraft(fields);
  return draftIntent(INBOX, change, source === undefined ? null : normaliseSource(source, change));
}

const mailboxes = (list: UpdateDraft['to']) =>
  (list ?? []).map(({ address, name }) => ({ address, name: (name ?? '').trim() }));
const labelSet = (list: readonly string[] | undefined) =>
  [...new Set((list ?? []).map(label => label.trim()))].sort();
const fileList = (list: UpdateDraft['attachments']) => (list ?? []).map(file => Object.entries(file).sort());

/** The fields that decide whether two drafts or replies are equal. */
function meaningOf({ fields, source }: Creation): string {
  return JSON.stringify({
    to: mailboxes(fields.to),
    cc: mailboxes(fields.cc),
    subject: fields.subject ?? '',
    text: fields.text ?? '',
    html: fields.html ?? null,
    files: fileList(fields.attachments),
    inReplyTo: fields.in_reply_to ?? null,
    labels: labelSet(fields.labels),
    source:
      source === undefined
        ? 'none'
        : {
            action: source.action,
            messageId: source.message_id,
            files: source.action === 'forward' && source.include_attachments !== false,
            given: Object.keys(fields).sort(),
          },
  });
}

t.test('two creations of drafts have one intent exactly when they mean the same', async t => {
  let equal = 0;
  fc.assert(
    fc.property(creation, creation, (a, b) => {
      const isSame = meaningOf(a) === meaningOf(b);
      if (isSame) equal += 1;
      return (intentOf(a) === intentOf(b)) === isSame;
    }),
    { numRuns: 4000 },
  );
  fc.assert(
    fc.property(creation, ({ fields, source }) => {
      const twice = {
        ...fields,
        ...(fields.labels === undefined ? {} : { labels: [...fields.labels].reverse() }),
      };
      const shuffled = Object.fromEntries(Object.entries(twice).reverse());
      return intentOf({ fields: shuffled, source }) === intentOf({ fields, source });
    }),
  );
  t.comment(`${equal} of 4,000 pairs were equal`);
  t.pass('held');
});

const reply: fc.Arbitrary<ReplyInput> = fc.record(
  {
    message_id: fc.constantFrom(A, B),
    text: fc.constantFrom('Hello', 'hello'),
    html: fc.constantFrom('', '<p>'),
    attachments: files,
    labels,
  },
  { requiredKeys: ['message_id', 'text'] },
);

t.test('two replies have one intent exactly when they mean the same', async t => {
  const scope = fc.constantFrom('reply' as const, 'reply-all' as const);
  const meaning = (scope: string, input: ReplyInput) =>
    JSON.stringify([
      scope,
      input.message_id,
      input.text,
      input.html === undefined ? 'none' : `html ${input.html}`,
      fileList(input.attachments),
      labelSet(input.labels),
    ]);
  fc.assert(
    fc.property(scope, reply, scope, reply, (s, a, u, b) => {
      const one = replyIntent(s, INBOX, normaliseReply(a));
      const two = replyIntent(u, INBOX, normaliseReply(b));
      return (one === two) === (meaning(s, a) === meaning(u, b));
    }),
    { numRuns: 3000 },
  );
  t.pass('held for 3,000 pairs');
});

const forward: fc.Arbitrary<ForwardInput> = fc.record(
  {
    message_id: fc.constantFrom(A, B),
    to: fc.array(mailbox, { minLength: 1, maxLength: 2 }),
    bcc: fc.array(mailbox, { maxLength: 1 }),
    note: fc.constantFrom('', 'See below'),
    include_attachments: fc.boolean(),
    labels,
  },
  { requiredKeys: ['message_id', 'to'] },
);

t.test('two forwards have one intent exactly when they mean the same', async t => {
  const meaning = (input: ForwardInput) =>
    JSON.stringify([
      input.message_id,
      mailboxes(input.to),
      mailboxes(input.bcc),
      input.note ?? '',
      input.include_attachments ?? true,
      labelSet(input.labels),
    ]);
  fc.assert(
    fc.property(forward, forward, (a, b) => {
      const one = forwardIntent(INBOX, normaliseForward(a));
      return (one === forwardIntent(INBOX, normaliseForward(b))) === (meaning(a) === meaning(b));
    }),
    { numRuns: 3000 },
  );
  t.pass('held for 3,000 pairs');
});

t.test('no kind of sending is another, and an inbox is another intent', async t => {
  const other = INBOX.replace(/1$/, '2');
  const to = [{ address: 'ann@x.example' }];
  const of = (inbox: string) => [
    explicitSendIntent(inbox, normaliseSubmission({ to, subject: 'Re: a', text: 'Hello', in_reply_to: A })),
    replyIntent('reply', inbox, normaliseReply({ message_id: A, text: 'Hello' })),
    replyIntent('reply-all', inbox, normaliseReply({ message_id: A, text: 'Hello' })),
    forwardIntent(inbox, normaliseForward({ message_id: A, to })),
    draftIntent(inbox, { to, text: 'Hello' }, null),
  ];
  const all = [...of(INBOX), ...of(other), draftSendIntent(A), draftSendIntent(B)];
  t.equal(new Set(all).size, all.length);
});

t.test('what does not go with a source is refused', async t => {
  const refused = (source: DraftSource, fields: UpdateDraft = {}) => {
    const change = normaliseDraft(fields);
    const result = resultOf(() => normaliseSource(source, change));
    return result.ok ? 'taken' : result.failure.code;
  };
  const forward: DraftSource = { action: 'forward', message_id: A };
  t.equal(refused({ ...forward, message_id: 'x' }), 'invalid_draft');
  t.equal(refused(forward, { attachments: [] }), 'invalid_draft');
  t.equal(refused(forward, { attachments: null }), 'invalid_draft');
  t.equal(refused(forward, { html: '<p>' }), 'invalid_draft');
  t.equal(
    refused(forward, { html: null, text: 'note', to: [], subject: 'Mine', in_reply_to: null }),
    'taken',
  );
  t.equal(refused({ action: 'reply', message_id: A }, { attachments: [], html: '<p>' }), 'taken');
});
