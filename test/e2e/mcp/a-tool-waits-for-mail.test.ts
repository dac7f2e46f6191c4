import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { McpClient } from '../../support/mcp/mcp-client.js';
import { deliver } from '../../support/smtp/deliver.js';

interface Waited {
  readonly message: { readonly id: string } | null;
  readonly next_cursor: string;
}

const box = await startBox(t);
const agent = await createAgent(box);
const client = new McpClient(box, agent.credential);
const { inboxId: inbox_id } = agent;
const letter = (subject: string) => `Subject: ${subject}\r\n\r\nText of ${subject}\r\n`;
const send = (subject: string) => deliver(box, agent.address, letter(subject));

t.test('the message that comes is told at once, and none is missed in between', async t => {
  const waiting = client.call<Waited>('wait_for_message', { inbox_id, query: '"your code"' });
  await send('Hello');
  const first = await send('Your code is 1');
  const { message, next_cursor } = await waiting;
  t.equal(message?.id, first);
  const second = await send('Your code is 2');
  const next = await client.call<Waited>('wait_for_message', {
    inbox_id,
    subject: 'code',
    after: next_cursor,
  });
  t.equal(next.message?.id, second);
  t.match(await client.call('wait_for_message', { inbox_id, after: next.next_cursor, wait: 0 }), {
    message: null,
  });
  const { events } = await client.call<{ events: object[] }>('list_events', { after: next_cursor, wait: 5 });
  t.match(events, [{ type: 'message.received', message_id: second }]);
});

t.test('a key that is revoked ends its waits', async t => {
  const { credential, key_id } = await box.cliJson<{ credential: string; key_id: string }>(
    ...['key', 'create', '--account', agent.accountId],
  );
  const other = new McpClient(box, credential);
  await other.call('get_account', {});
  const waiting = other.failure('wait_for_message', { inbox_id });
  await new Promise(resolve => setTimeout(resolve, 300));
  t.equal((await box.cli('key', 'revoke', key_id)).code, 0);
  t.match(await waiting, { code: 'unauthorized' });
});

t.test('an account has so many waits, over tools too', async t => {
  const stopping = new AbortController();
  const waits = Array.from({ length: 100 }, () =>
    fetch(`http://127.0.0.1:${box.httpPort}/v1/events?after=now&wait=50`, {
      headers: { authorization: `Bearer ${agent.credential}` },
      signal: stopping.signal,
    }).catch(() => {}),
  );
  // Until all of them wait, there is a place for one more.
  while ((await client.result('list_events', { after: 'now', wait: 1 })).isError !== true);
  t.match(await client.failure('wait_for_message', { inbox_id }), { code: 'rate_limited', retryable: true });
  stopping.abort();
  await Promise.all(waits);
});

t.test('a large message does not wait: it would hold the memory that others need', async t => {
  const padding = { inbox_id, wait: 50, query: `${' '.repeat(70_000)}nothing` };
  t.match(await client.failure('wait_for_message', padding), { code: 'body_too_large' });
  t.match(await client.failure('list_events', { after: `${' '.repeat(70_000)}now`, wait: 50 }), {
    code: 'body_too_large',
  });
});
