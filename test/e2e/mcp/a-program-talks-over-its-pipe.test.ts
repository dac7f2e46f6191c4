import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { packageRoot, startBox } from '../../support/box/postern-box.js';

const box = await startBox(t);
const agent = await createAgent(box);
const keyFile = join(box.folder, 'key');
writeFileSync(keyFile, `${agent.credential}\n`);
const url = `http://127.0.0.1:${box.httpPort}`;

interface Answer {
  readonly id: number | null;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Runs `postern mcp` with these lines on its input, and gives the answers in order of their ids. */
async function talk(args: readonly string[], lines: readonly (object | string)[], env = {}) {
  const child = spawn(process.execPath, [join(packageRoot, 'bin/postern'), 'mcp', ...args], {
    env: { ...box.env, ...env },
  });
  const answers: Answer[] = [];
  const errors: string[] = [];
  createInterface({ input: child.stdout }).on('line', line => answers.push(JSON.parse(line) as Answer));
  createInterface({ input: child.stderr }).on('line', line => errors.push(line));
  child.stdin.end(
    lines
      .map(line => (typeof line === 'string' ? line : JSON.stringify({ jsonrpc: '2.0', ...line })))
      .join('\n'),
  );
  const code = await new Promise(resolve => child.once('close', resolve));
  return { code, answers: answers.sort((a, b) => Number(a.id) - Number(b.id)), errors };
}

const hello = {
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

t.test('a conversation with a handshake, the key in a file', async t => {
  const { code, answers, errors } = await talk(
    ['--key-file', keyFile, '--url', url],
    [
      hello,
      { method: 'notifications/initialized' },
      '',
      { id: 2, method: 'tools/call', params: { name: 'list_inboxes', arguments: {} } },
      '{"jsonrpc": ',
    ],
  );
  t.strictSame([code, errors], [0, []]);
  t.match(answers, [
    { id: null, error: { code: -32700 } },
    { id: 1, result: { serverInfo: { name: 'Postern' } } },
    { id: 2, result: { structuredContent: { inboxes: [{ address: agent.address }] } } },
  ]);
  t.equal(answers.length, 3);
});

t.test('requests that bring their envelope, the key in the environment', async t => {
  const params = { name: 'get_account', arguments: {}, _meta: envelope };
  const { code, answers } = await talk(['--url', `${url}/mcp/`], [{ id: 5, method: 'tools/call', params }], {
    POSTERN_KEY: agent.credential,
  });
  t.equal(code, 0);
  t.match(answers, [{ id: 5, result: { structuredContent: { kind: 'agent' } } }]);
});

t.test('what is wrong is told to the program', async t => {
  const refused = await talk(['--url', url], [hello], { POSTERN_KEY: 'pst_wrong' });
  t.match(refused.answers, [{ id: 1, error: { code: -32000, message: /^401: .*\(unauthorized\)$/ } }]);
  const away = await talk(['--url', 'http://127.0.0.1:9'], [hello], { POSTERN_KEY: 'pst_wrong' });
  t.match(away.answers, [
    { id: 1, error: { message: /http:\/\/127\.0\.0\.1:9\/mcp does not answer .*Is it running/ } },
  ]);
  const keyless = await talk(['--url', url], [hello]);
  t.match(keyless, { code: 2, answers: [], errors: [/POSTERN_KEY is not set/] });
  const portless = await talk([], [hello], { POSTERN_KEY: 'pst_wrong' });
  t.match(portless, { code: 2, errors: [/--url/] });
});
