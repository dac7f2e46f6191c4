import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import t from 'tap';
import { createAgent, type TestAgent } from '../../support/box/agents.js';
import { type PosternBox, startBox } from '../../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../../support/box/store-facts.js';
import { makeCertificate } from '../../support/certificate.js';
import { casesFolder } from '../../support/letters/mime-cases.js';
import { temporaryFolder } from '../../support/redis/redis.js';

const folder = casesFolder();
const skip =
  folder === null && 'no recorded dialogues: set POSTERN_CASES to their folder, or put it at ../shared/cases';

/** Enough for a thousand clients at once from one address, and a time-out that need not be waited for long. */
const LIMITS = {
  POSTERN_SMTP_MAX_CLIENTS: '1500',
  POSTERN_SMTP_MAX_CLIENTS_PER_ADDRESS: '1500',
  POSTERN_SMTP_IDLE_TIMEOUT_S: '5',
};
const IDLE_MS = 20_000;

t.test('every recorded SMTP dialogue goes as it should, without a certificate', { skip }, async t => {
  const box = await startBox(t, { env: LIMITS });
  await play(t, box, {});
});

t.test('every recorded SMTP dialogue goes as it should, with a certificate', { skip }, async t => {
  const box = await startBox(t, { env: { ...LIMITS, ...makeCertificate(temporaryFolder(t)) } });
  await play(t, box, { TLS: '1' });
});

async function play(t: Test, box: PosternBox, env: Record<string, string>): Promise<void> {
  const agent = await createAgent(box);
  const { lines, code } = await run(box, { ...env, ...(await countOf(t, agent)), KNOWN_RCPT: agent.address });
  for (const [index, line] of lines.entries()) {
    // The reason of a failure stands on the line after it.
    const [, verdict, id = ''] = /^(ok|FAIL) +(\S+) /.exec(line) ?? [];
    if (verdict !== undefined) t.equal(verdict, 'ok', verdict === 'ok' ? id : `${id}: ${lines[index + 1]}`);
  }
  t.equal(code, 0, 'the player says so, too');
  t.comment(lines.at(-1) ?? '');
  t.same((await untilFacts(box, isAtRest)).faults, []);
}

async function run(
  box: PosternBox,
  env: Record<string, string>,
): Promise<{ lines: string[]; code: number | null }> {
  const script = [
    join(folder ?? '', 'run-smtp.mjs'),
    '127.0.0.1',
    String(box.smtpPort),
    join(folder ?? '', 'smtp'),
  ];
  const player = spawn(process.execPath, script, {
    env: { ...process.env, ...env, IDLE_MS: String(IDLE_MS) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  createInterface({ input: player.stdout }).on('line', line => lines.push(line));
  const [code] = (await once(player, 'close')) as [number | null];
  return { lines, code };
}

/** Where the player asks how many messages have been stored. */
async function countOf(t: Test, agent: TestAgent): Promise<{ COUNT_URL: string }> {
  const server = createServer(async (_request, response) => {
    response.end(String(await agent.api.count(agent.inboxId)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { COUNT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}
