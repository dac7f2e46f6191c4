import fc from 'fast-check';
import { type Input, key, label, loosely, mostly, text, typed } from './bodies.js';

/** Bodies of everything that is sent or becomes a draft. The grammar of addresses is told in words. */

const address = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('ann@x.example', 'Bob.Lee+tag@X.Example', "o'neil@y.example") },
  { weight: 1, arbitrary: fc.constant(`${'a'.repeat(250)}@x.example`) },
);
const mailbox = fc.record(
  {
    address: typed(address),
    name: fc.oneof(text(256), fc.constant('Ann')),
  },
  { requiredKeys: ['address'] },
);
/** Never so many that their sum would be one too many. */
const few = fc.array(mailbox, { maxLength: 3 });
const recipients = fc.oneof(
  { weight: 8, arbitrary: few },
  {
    weight: 1,
    arbitrary: fc.array(fc.constant({ address: 'ann@x.example' }), { minLength: 51, maxLength: 52 }),
  },
);
const subject = fc.oneof(
  { weight: 8, arbitrary: fc.stringMatching(/^[a-zé]{1,9}$/) },
  { weight: 1, arbitrary: text(998) },
);
const body = fc.oneof(
  { weight: 12, arbitrary: fc.stringMatching(/^[a-z\n]{0,9}[a-z]$/) },
  { weight: 1, arbitrary: fc.constantFrom('', ' \n') },
);
const base64 = fc.uint8Array({ maxLength: 9 }).map(bytes => Buffer.from(bytes).toString('base64'));
const file = fc.record({
  filename: typed(
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom('a.txt', 'ü b.bin') },
      { weight: 1, arbitrary: fc.constantFrom('', 'é'.repeat(128)) },
    ),
  ),
  type: fc.oneof(
    { weight: 12, arbitrary: fc.constant('text/plain') },
    { weight: 1, arbitrary: fc.constantFrom('text', 'a/b; c=d', `a/${'b'.repeat(126)}`) },
  ),
  content: fc.oneof(
    { weight: 12, arbitrary: base64 },
    { weight: 1, arbitrary: fc.constantFrom('Q Q=', '=QQ=', 'Q-_=') },
  ),
});
const reference = fc.oneof(
  fc.record({
    filename: fc.constantFrom('a.txt', ''),
    type: fc.constantFrom('text/plain', 'text'),
    upload_id: typed(fc.uuid()),
  }),
  fc.record(
    {
      message_id: typed(fc.uuid()),
      attachment_id: typed(fc.constantFrom('1', '')),
      filename: fc.constantFrom('a.txt', 'é'.repeat(128)),
      type: fc.constantFrom('text/plain', 'a/b; c=d'),
    },
    { requiredKeys: ['message_id', 'attachment_id'] },
  ),
  fc.constantFrom({ filename: 'a.txt', type: 'text/plain' }, { message_id: 'x' }),
);
const attachments = fc.oneof(
  { weight: 3, arbitrary: fc.constant(null) },
  { weight: 6, arbitrary: fc.array(file, { maxLength: 2 }) },
  { weight: 1, arbitrary: fc.array(loosely(reference), { maxLength: 2 }) },
  {
    weight: 1,
    arbitrary: fc.array(fc.constant({ filename: 'a', type: 'a/b', content: '' }), {
      minLength: 33,
      maxLength: 33,
    }),
  },
);
const messageRef = fc.oneof(
  { weight: 12, arbitrary: fc.uuid() },
  { weight: 1, arbitrary: fc.constantFrom('x', '<a@b>') },
);
const common = {
  attachments: mostly(attachments),
  labels: mostly(fc.array(label, { maxLength: 3 })),
  idempotency_key: mostly(key),
};
const source = fc.oneof(
  fc.record({ action: fc.constantFrom('reply', 'reply-all'), message_id: messageRef }),
  fc.record(
    { action: fc.constant('forward'), message_id: messageRef, include_attachments: fc.boolean() },
    { requiredKeys: ['action', 'message_id'] },
  ),
  fc.constantFrom({ action: 'reply' }, { action: 'answer', message_id: 'x' }, {}),
);
const draftFields = {
  to: mostly(recipients),
  cc: few,
  bcc: few,
  subject: typed(subject),
  text: typed(body),
  html: typed(fc.oneof(fc.constant(null), fc.constant('<p>a</p>'))),
  attachments: common.attachments,
  labels: common.labels,
  in_reply_to: mostly(fc.oneof(fc.constant(null), messageRef)),
};

/** Only fifty in all, and with a forward neither files nor HTML: the types cannot say so. */
function isOddDraft(input: object): boolean {
  const { to, cc = [], bcc = [], source: from } = input as Record<string, unknown>;
  const count = [to, cc, bcc].reduce<number>((sum, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
  const isForward = (from as { action?: unknown } | undefined)?.action === 'forward';
  const hasLongList = Array.isArray(to) && to.length > 50;
  return (count > 50 && !hasLongList) || (isForward && ('attachments' in input || 'html' in input));
}

export const SEND_INPUTS: readonly Input[] = [
  {
    route: 'POST /v1/inboxes/INBOX/sent',
    body: fc.record(
      {
        to: mostly(recipients),
        cc: few,
        bcc: few,
        subject: typed(subject),
        text: typed(body),
        html: typed(fc.constantFrom('<p>a</p>', '')),
        in_reply_to: mostly(messageRef),
        ...common,
      },
      { requiredKeys: ['to', 'subject', 'text'] },
    ),
    isBeyondTypes: isOddDraft,
  },
  {
    route: 'POST /v1/inboxes/INBOX/reply',
    body: fc.record(
      {
        message_id: mostly(messageRef),
        text: typed(body),
        html: typed(fc.constant('<p>a</p>')),
        ...common,
      },
      { requiredKeys: ['message_id', 'text'] },
    ),
  },
  {
    route: 'POST /v1/inboxes/INBOX/reply-all',
    body: fc.record(
      { message_id: mostly(messageRef), text: typed(body), ...common },
      { requiredKeys: ['message_id', 'text'] },
    ),
  },
  {
    route: 'POST /v1/inboxes/INBOX/forward',
    body: fc.record(
      {
        message_id: mostly(messageRef),
        to: mostly(recipients),
        cc: few,
        bcc: few,
        note: typed(fc.constantFrom('', 'Look')),
        include_attachments: mostly(fc.boolean()),
        labels: common.labels,
        idempotency_key: common.idempotency_key,
      },
      { requiredKeys: ['message_id', 'to'] },
    ),
    isBeyondTypes: isOddDraft,
  },
  {
    route: 'POST /v1/inboxes/INBOX/drafts',
    body: fc.record(
      { ...draftFields, idempotency_key: common.idempotency_key, source },
      { requiredKeys: [] },
    ),
    isBeyondTypes: isOddDraft,
  },
  {
    route: 'PATCH /v1/drafts/DRAFT',
    body: fc.record(draftFields, { requiredKeys: [] }),
    isBeyondTypes: isOddDraft,
  },
  {
    route: 'POST /v1/drafts/DRAFT/send',
    body: fc.record({ idempotency_key: fc.oneof(key, fc.constantFrom('', 7, null)) }, { requiredKeys: [] }),
  },
];
