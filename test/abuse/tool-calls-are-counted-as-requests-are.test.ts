import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent, type TestAgent } from '../support/box/agents.js';
import { startBox } from '../support/box/postern-box.js';
import { mimeLetter } from '../support/letters/mime-letter.js';
import { McpClient } from '../support/mcp/mcp-client.js';
import { quota } from '../support/sending/sending.js';
import { startSmarthostBox } from '../support/smarthost/smarthost-box.js';
import { drop, onceThat } from '../support/smarthost/smarthost-script.js';
import { deliver } from '../support/smtp/deliver.js';
import type { Stalls } from './health-watch.js';
import { watchGrowth } from './process-facts.js';

const FILE = Buffer.alloc(3_600_000, 7);
const attachments = [{ filename: 'a.bin', type: 'a/b', content: FILE.toString('base64') }];
const LONG = 'All work and no play. '.repeat(400_000);

t.test('thirty large sends wait for a smarthost that is silent: the daemon keeps none of them', async t => {
  const sends = 30;
  let open = (): void => {};
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  // A heap that cannot hold the half of what they bring.
  const heapMib = Math.floor((sends * FILE.length * 4) / 3 / 2 ** 20 / 2) + 16;
  const { box, smarthost } = await startSmarthostBox(
    t,
    { POSTERN_LIMITS_SENDS: '1000', POSTERN_RELAY_RESPONSE_TIMEOUT_S: '300' },
    { dot: onceThat(opened, drop) },
    { nodeArguments: [`--max-old-space-size=${heapMib}`] },
  );
  const agent = await createAgent(box);
  const client = new McpClient(box, agent.credential);
  const args = {
    ...{ inbox_id: agent.inboxId, to: [{ address: 'ann@remote.example' }] },
    ...{ subject: 'Notes', text: 'Hello', attachments },
  };
  const answers: Promise<{ readonly message: { readonly status: string } }>[] = [];
  for (let n = 1; n <= sends; n++) {
    answers.push(client.call('send_message', args));
    // One after the other: it is not reading them that is looked at.
    while ((await quota(agent.api)).used < n) await delay(20);
  }
  await smarthost.stop();
  open();
  const outcomes = new Set((await Promise.all(answers)).map(({ message }) => message.status));
  t.strictSame([...outcomes].sort(), ['rejected', 'unknown']);
  t.same(await box.stop(), { code: 0, signal: null });
});

t.test('fifty large drafts and fifty large results at once', async t => {
  const box = await startBox(t);
  const agents: TestAgent[] = [];
  for (let n = 0; n < 5; n++) agents.push(await createAgent(box, `agent${n}`));
  const [agent] = agents;
  const id = await deliver(box, agent!.address, mimeLetter({ text: LONG, html: LONG }));
  await agent!.api.finished(id);
  const growth = watchGrowth(box.pid);
  const clients = agents.map(({ credential }) => new McpClient(box, credential));
  for (const client of clients) await client.tools();
  /** Done, or told to come again: as a request, or as a call. */
  const outcome = async (client: McpClient, name: string, args: object): Promise<string> => {
    const params = { name, arguments: args };
    const answer = await client.post(JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params }));
    const text = await answer.text();
    if (answer.status === 503 && Number(answer.headers.get('retry-after')) > 0) return 'busy';
    return text.includes('retry_after_s') ? 'busy' : text.includes('structuredContent') ? 'done' : text;
  };
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, (_, n) => {
      const index = n % clients.length;
      const args = { inbox_id: agents[index]!.inboxId, subject: 'S', text: 'T', attachments };
      return n < 50
        ? outcome(clients[index]!, 'create_draft', args)
        : outcome(clients[0]!, 'get_message', { message_id: id, format: 'full' });
    }),
  );
  const grownMib = growth.stop();
  const busy = outcomes.filter(outcome => outcome === 'busy').length;
  t.comment(`${grownMib.toFixed(0)} MiB, ${busy} of ${outcomes.length} told to come again`);
  t.strictSame(
    [...new Set(outcomes)].filter(outcome => outcome !== 'busy'),
    ['done'],
  );
  t.ok(grownMib < 340, `the daemon grew by ${grownMib.toFixed(0)} MiB`);
});

t.test('others are answered while a long message is shown', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const client = new McpClient(box, agent.credential);
  await client.tools();
  const id = await deliver(box, agent.address, mimeLetter({ text: LONG, html: LONG }));
  await agent.api.finished(id);
  const watch = fork(new URL('./health-watch.js', import.meta.url), [`${box.httpPort}`]);
  t.teardown(() => watch.kill());
  await once(watch, 'message');
  for (const format of ['default', 'full']) {
    watch.send('begin');
    await once(watch, 'message');
    for (let n = 0; n < 20; n++) await client.call('get_message', { message_id: id, format });
    watch.send('end');
    const [stalls] = (await once(watch, 'message')) as [Stalls];
    t.comment(`${format}: ${JSON.stringify(stalls)}`);
    t.ok(stalls.longestMs < 1_000);
  }
});
