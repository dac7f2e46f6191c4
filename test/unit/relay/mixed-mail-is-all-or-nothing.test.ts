import t from 'tap';
import { drop, type Script, say } from '../../support/smarthost/smarthost-script.js';
import { attempt, CONTENT } from './smarthost/with-smarthost.js';
import { withMixedRelay } from './with-relay.js';

const recipients = [
  'one@elsewhere.example',
  'Agent@example.org',
  'two@elsewhere.example',
  'other@example.org',
];

t.test('each gets it by its own way, once', async t => {
  const { relay, inbound, smarthost } = await withMixedRelay(t);
  const outcome = await relay.submit(attempt({ from: 'sender@example.org', recipients }));
  t.match(outcome, { status: 'accepted', detail: /^250 2\.0\.0 OK queued as 1; delivered here: / });
  t.match(smarthost.submissions, [
    { from: 'sender@example.org', recipients: ['one@elsewhere.example', 'two@elsewhere.example'] },
  ]);
  t.match(inbound.messages, [
    {
      envelope: {
        from: 'sender@example.org',
        recipients: [{ address: 'Agent@example.org' }, { address: 'other@example.org' }],
      },
    },
  ]);
  t.equal(smarthost.submissions[0]?.content.toString(), CONTENT);
  t.equal(inbound.messages[0]?.raw.toString(), CONTENT);
});

t.test('the store gets bytes of its own, with which it may do what it wants', async t => {
  const { relay, inbound, smarthost } = await withMixedRelay(t);
  const begin = inbound.begin.bind(inbound);
  inbound.begin = () => {
    const body = begin();
    const write = (chunk: Uint8Array): boolean => {
      const goOn = body.write(chunk);
      chunk.fill(0);
      return goOn;
    };
    return { ...body, write };
  };
  t.equal((await relay.submit(attempt({ recipients }))).status, 'accepted');
  t.equal(smarthost.submissions[0]?.content.toString(), CONTENT);
  t.equal(inbound.messages[0]?.raw.toString(), CONTENT);
});

t.test('only others: the store is not asked for anything', async t => {
  const { relay, inbound, smarthost } = await withMixedRelay(t);
  t.equal((await relay.submit(attempt())).status, 'accepted');
  t.same([inbound.asked, inbound.bodies], [[], []]);
  t.equal(smarthost.submissions.length, 1);
});

t.test('only inboxes here: the smarthost is not asked for anything', async t => {
  const { relay, inbound, smarthost } = await withMixedRelay(t);
  t.equal((await relay.submit(attempt({ recipients: ['agent@example.org'] }))).status, 'accepted');
  t.equal(inbound.messages.length, 1);
  t.equal(smarthost.sessions.length, 0);
});

for (const fault of [
  'an unknown recipient here',
  'failResolving',
  'isFull',
  'failBegin',
  'failWriting',
] as const) {
  t.test(`${fault}: the smarthost is not even connected to`, async t => {
    const { relay, inbound, smarthost } = await withMixedRelay(t);
    if (fault === 'an unknown recipient here') inbound.inboxes.delete('other@example.org');
    else inbound[fault] = true;
    t.equal((await relay.submit(attempt({ recipients }))).status, 'rejected');
    t.equal(smarthost.sessions.length, 0);
    t.same(inbound.messages, []);
  });
}

const refusals: readonly (readonly [string, Script, 'rejected' | 'unknown'])[] = [
  ['refuses a recipient', { rcpt: say('550 5.1.1 No') }, 'rejected'],
  ['refuses the message', { dot: say('554 5.7.1 Spam') }, 'rejected'],
  ['ends the connection at MAIL', { mail: drop }, 'rejected'],
  ['does not answer to the dot', { dot: drop }, 'unknown'],
];

for (const [claim, script, status] of refusals) {
  t.test(`a smarthost that ${claim}: nobody here gets it`, async t => {
    const { relay, inbound } = await withMixedRelay(t, script);
    t.equal((await relay.submit(attempt({ recipients }))).status, status);
    t.same(inbound.messages, []);
    t.match(inbound.bodies, [{ commits: 0, aborts: 1 }]);
  });
}

t.test('here nothing is delivered before the smarthost has accepted', async t => {
  const order: string[] = [];
  const { relay, inbound } = await withMixedRelay(t, {
    dot: () => {
      order.push('asked the smarthost');
      return null;
    },
  });
  inbound.on('commit', () => order.push('committed here'));
  t.equal((await relay.submit(attempt({ recipients }))).status, 'accepted');
  t.same(order, ['asked the smarthost', 'committed here']);
});

for (const [claim, commitWith] of [
  ['fails', () => Promise.reject(new Error('EIO'))],
  ['finds no room', async () => ({ status: 'no_room' as const })],
  ['finds the inboxes gone', async () => ({ status: 'no_recipients' as const })],
] as const) {
  t.test(`the smarthost has accepted and the commit here ${claim}: unknown`, async t => {
    const { relay, inbound, smarthost } = await withMixedRelay(t);
    inbound.commitWith = commitWith;
    t.match(await relay.submit(attempt({ recipients })), {
      status: 'unknown',
      errorCode: 'acceptance_unknown',
      detail: /^handed to the relay \(250 .*\), but not delivered here: /,
    });
    t.equal(smarthost.submissions.length, 1);
  });
}
