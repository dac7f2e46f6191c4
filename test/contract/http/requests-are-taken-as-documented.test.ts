import fc from 'fast-check';
import t from 'tap';
import { withServer } from '../../unit/http/with-server.js';
import { type Input, id, key, label, loosely, mostly, name, text } from './bodies.js';
import { SEND_INPUTS } from './send-bodies.js';

/*
 * Bodies are checked in part by the types that the document shows, in part by the domain, whose rules those types
 * only tell of (patterns, bytes, numbers of labels). Here the two are held together: what the document forbids is
 * refused with 400, what it allows is not, but for what its words alone can say.
 */

/**
 * Not tried here. The first three take the same bodies as received mail does. The next two refuse even a valid body
 * when it comes too often or nobody has approved it, so they have tests of their own
 * (test/unit/http/routes/signup-and-claim-follow-the-contract.test.ts); so have webhooks, of which there are ten at most
 * (webhooks-follow-the-contract.test.ts), and uploads, which take any bytes.
 */
const ELSEWHERE: readonly string[] = [
  'PATCH /v1/sent/{message_id}',
  'PATCH /v1/sent/labels',
  'PATCH /v1/threads/{thread_id}',
  'POST /v1/signups',
  'POST /v1/claims',
  'POST /v1/uploads',
  'POST /v1/webhooks',
  'PATCH /v1/webhooks/{webhook_id}',
  'POST /v1/webhooks/{webhook_id}/replay',
];

/** A change has at least one label, and none that is added and removed. */
function isOddChange(body: object): boolean {
  const { add_labels: add = [], remove_labels: remove = [] } = body as Record<string, unknown>;
  if (!Array.isArray(add) || !Array.isArray(remove)) return false;
  const added = new Set(add.map(name => String(name).trim()));
  return added.size + remove.length === 0 || remove.some(name => added.has(String(name).trim()));
}

const INPUTS: readonly Input[] = [
  {
    route: 'POST /v1/inboxes',
    body: fc.record(
      {
        local_part: mostly(
          fc.oneof(
            { weight: 6, arbitrary: fc.stringMatching(/^[ \n]{0,2}[a-zA-Z0-9_-]{1,66}[ \t]{0,2}$/) },
            { weight: 1, arbitrary: fc.constantFrom('', ' ', 'a.b', 'ä', 'a+b', 'A') },
          ),
        ),
        domain: fc.constantFrom(null, 'example.org'),
        name: mostly(name),
        sender_name: mostly(name),
        idempotency_key: mostly(key),
      },
      { requiredKeys: ['local_part'] },
    ),
  },
  {
    route: 'PATCH /v1/inboxes/INBOX',
    body: fc.record({ name: mostly(name), sender_name: mostly(name) }, { requiredKeys: [] }),
  },
  {
    route: 'PATCH /v1/messages/MESSAGE',
    body: fc.record(
      {
        add_labels: mostly(
          fc.oneof(
            fc.array(mostly(label), { maxLength: 4 }),
            fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { minLength: 31, maxLength: 33 }),
          ),
        ),
        remove_labels: mostly(fc.array(label, { maxLength: 4 })),
      },
      { requiredKeys: [] },
    ),
    isBeyondTypes: isOddChange,
  },
  {
    route: 'PATCH /v1/messages/labels',
    body: fc.record(
      {
        message_ids: mostly(
          fc.oneof(fc.array(id, { maxLength: 5 }), fc.array(fc.uuid(), { minLength: 99, maxLength: 101 })),
        ),
        add_labels: mostly(fc.array(label, { maxLength: 3 })),
      },
      { requiredKeys: ['message_ids', 'add_labels'] },
    ),
    isBeyondTypes: isOddChange,
  },
  {
    route: 'POST /v1/feedback',
    body: fc.record({ title: mostly(text(200)), body: mostly(text(300)) }, { requiredKeys: ['body'] }),
  },
  ...SEND_INPUTS,
];

for (const { route, body, isBeyondTypes = () => false } of INPUTS) {
  t.test(`${route}: refused or not as the document says`, async t => {
    const { house, call, contract } = await withServer(t);
    const inbox = await house.addInbox('agent');
    const message = await house.receive('raw', inbox);
    const [method = '', template = ''] = route.split(' ');
    const path = template.replace('INBOX', inbox).replace('MESSAGE', message).replace('DRAFT', message);
    const seen = { allowed: 0, forbidden: 0 };
    await fc.assert(
      fc.asyncProperty(loosely(body), async input => {
        fc.pre(!isBeyondTypes(input));
        const complaints = contract.complaintsOfRequest({ method, path, body: input });
        const answer = await call(path, { method, body: input });
        // How many labels the message has by then is nothing that the document could know.
        if (answer.bytes.includes('A message may have at most 256 labels')) return;
        seen[complaints.length === 0 ? 'allowed' : 'forbidden'] += 1;
        if ((answer.status === 400) === complaints.length > 0) return;
        throw new Error(`${answer.status} ${answer.bytes} but the document says: ${complaints.join('; ')}`);
      }),
      { numRuns: 150 },
    );
    t.ok(seen.allowed > 5 && seen.forbidden > 5, `both happened: ${JSON.stringify(seen)}`);
  });
}

t.test('every body that is served is tried here', async t => {
  const { contract } = await withServer(t);
  const tried = INPUTS.map(({ route }) =>
    route.replace('INBOX', '{inbox_id}').replace('MESSAGE', '{message_id}').replace('DRAFT', '{draft_id}'),
  );
  t.strictSame(contract.routesWithBody().sort(), [...tried, ...ELSEWHERE].sort());
});

t.test('limit: every number and no other is a page size', async t => {
  const { house, call, contract } = await withServer(t);
  const inbox = await house.addInbox('agent');
  for (const limit of [-1, 0, 1, 2, 20, 99, 100, 101, 1000]) {
    const path = `/v1/inboxes/${inbox}/messages?limit=${limit}`;
    const isAllowed = contract.complaintsOfRequest({ method: 'GET', path }).length === 0;
    t.equal((await call(path)).status, isAllowed ? 200 : 400, String(limit));
  }
});
