import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { INSPECTOR, runOther } from '../../support/mcp/tools-of-others.js';

const box = await startBox(t);
const agent = await createAgent(box);

function inspect(...args: readonly string[]): Promise<unknown> {
  return runOther(
    INSPECTOR,
    ...['--cli', `http://127.0.0.1:${box.httpPort}/mcp`, '--transport', 'http'],
    ...['--header', `Authorization: Bearer ${agent.credential}`],
    ...args,
  ).then(({ stdout, stderr }) => {
    try {
      return JSON.parse(stdout) as unknown;
    } catch {
      throw new Error(`the inspector said: ${stdout}${stderr}`);
    }
  });
}

t.test('it lists the tools', async t => {
  const { tools } = (await inspect('--method', 'tools/list')) as { tools: { name: string }[] };
  t.ok(tools.some(({ name }) => name === 'send_message'));
  t.notOk(
    tools.some(({ name }) => name.startsWith('erase_')),
    'what the operator has not allowed',
  );
});

t.test('it calls a tool, and holds the result against the output schema', async t => {
  const result = await inspect(
    ...['--method', 'tools/call', '--tool-name', 'get_inbox', '--tool-arg', `inbox_id=${agent.inboxId}`],
  );
  t.match(result, { structuredContent: { address: agent.address } });
});
