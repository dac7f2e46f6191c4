import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { PosternBox } from '../../support/box/postern-box.js';
import { startKeyProxy } from '../../support/mcp/key-proxy.js';
import { CONFORMANCE, runOther } from '../../support/mcp/tools-of-others.js';

/** The scenarios for any server with tools. */
const FIT = ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'];

/** Why the others do not fit, by the beginnings of their names. */
const UNFIT: Readonly<Record<string, string>> = {
  'tools-call-': 'calls tools of the suite itself (test_simple_text and others)',
  'json-schema-2020-12': 'looks at a tool of the suite itself',
  'elicitation-': 'calls tools of the suite itself, and asks the client back',
  'logging-': 'the server declares no logging: it has a log of its own',
  'completion-': 'the server declares no completions',
  'resources-': 'the server declares no resources: mail is read with tools',
  'prompts-': 'the server declares no prompts',
  'server-sse-': 'every answer is one JSON document: there are no streams',
};

const box = PosternBox.create(t);
let credential = '';
const port = await startKeyProxy(t, () => ({ port: box.httpPort, credential }));
const url = `http://127.0.0.1:${port}`;
box.env.POSTERN_SERVICE_PUBLIC_URL = url;
await box.start();
({ credential } = await createAgent(box));

for (const scenario of FIT) {
  t.test(scenario, async t => {
    const run = await runOther(CONFORMANCE, 'server', '--scenario', scenario, '--url', `${url}/mcp`);
    const told = `${run.stdout}${run.stderr}`;
    t.equal(run.code, 0, told);
    t.match(told, /Passed: [1-9]\d*\/\d+, 0 failed, 0 warnings/);
  });
}

t.test('each other scenario is left out for a reason', async t => {
  const { stdout, stderr } = await runOther(CONFORMANCE, 'list', '--server');
  const names = [...`${stdout}${stderr}`.matchAll(/^ +- (\S+)$/gm)].map(([, name = '']) => name);
  const unexplained = names.filter(
    name => !FIT.includes(name) && !Object.keys(UNFIT).some(prefix => name.startsWith(prefix)),
  );
  t.ok(names.length >= 32, `${names.length} scenarios`);
  t.strictSame(unexplained, []);
});
