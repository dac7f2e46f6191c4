import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { deliver } from '../../support/smtp/deliver.js';

interface Page {
  readonly events: readonly { readonly type: string; readonly summary: { readonly id: string } | null }[];
  readonly next_cursor: string;
}

t.test('an agent waits for mail, through a restart, until its key is revoked', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const { api } = agent;
  const start = (await api.get('/v1/events?after=now')).json<Page>();
  const waiting = api.get(`/v1/events?after=${start.next_cursor}&wait=50&types=message.received`);
  const listed = api.get(`/v1/inboxes/${agent.inboxId}/messages?wait=50`);
  await deliver(box, agent.address, 'Subject: One\r\n\r\nHi\r\n');
  const heard = (await waiting).json<Page>();
  t.match(heard.events, [
    { type: 'message.received', summary: { subject: 'One', processing_status: 'ready' } },
  ]);
  t.match((await listed).json(), { messages: [{ subject: 'One' }] });

  const beforeStop = api.get(`/v1/events?after=${heard.next_cursor}&wait=50`);
  // Asked later and answered, so the wait has begun.
  for (let n = 0; n < 3; n++) t.equal((await api.get('/v1/inboxes')).status, 200);
  const exit = await box.stop();
  t.equal(exit.code, 0);
  t.match(
    (await beforeStop).json<Page>(),
    { events: [], next_cursor: heard.next_cursor },
    'SIGTERM ends a wait',
  );
  await box.start();
  await deliver(box, agent.address, 'Subject: Two\r\n\r\nHi\r\n');
  const next = api.get(`/v1/events?after=${heard.next_cursor}&wait=50`);
  t.match((await next).json<Page>().events, [{ type: 'message.received' }]);

  const made = api.get('/v1/events?after=now&wait=50&types=inbox.created');
  const created = await box.cli('inbox', 'create', 'second', '--account', agent.email);
  t.equal(created.code, 0, created.stderr);
  t.match(
    (await made).json<Page>().events,
    [{ type: 'inbox.created' }],
    'what the command line does is heard',
  );

  const last = api.get('/v1/events?after=now&wait=50');
  const revoked = await box.cli('key', 'revoke', agent.keyId);
  t.equal(revoked.code, 0, revoked.stderr);
  t.equal((await last).status, 401);
});
