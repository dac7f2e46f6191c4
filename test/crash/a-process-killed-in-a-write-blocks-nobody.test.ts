import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { createAgent } from '../support/box/agents.js';
import { type PosternBox, packageRoot, startBox } from '../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../support/box/store-facts.js';
import { writeLetter } from '../support/letters/letters.js';
import { deliver } from '../support/smtp/deliver.js';

/** Opens the store as the command line does and dies in the middle of a unit of work, the write lock held. */
const VICTIM = `
const [module, path, mapSizeBytes] = process.argv.slice(1);
const { openStore } = await import(module);
const { accountEmailsTable } = await import(new URL('./records/accounts.js', module).href);
const store = openStore({ path, mapSizeBytes: Number(mapSizeBytes), diskFloorBytes: 0 });
await store.write(writer => {
  for (let n = 0; n < 1_000; n++) writer.put(accountEmailsTable, 'half-done-' + n, 'nobody');
  process.kill(process.pid, 'SIGKILL');
  for (;;);
});
`;

t.test('a command that is killed while it writes leaves nothing and holds up nobody', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  for (let round = 0; round < 5; round++) {
    const letter = writeLetter({ bytes: 200_000 });
    const [killed, id] = await Promise.all([dieInWrite(box), deliver(box, agent.address, letter)]);
    t.equal(killed, 'SIGKILL');
    const next = await deliver(box, agent.address, writeLetter());
    t.equal((await agent.api.finished(next)).processing_status, 'ready', 'the daemon goes on');
    t.ok((await agent.api.raw(id)).equals(letter.raw));
  }
  const { accounts } = await box.cliJson<{ accounts: { email: string }[] }>('account', 'list');
  t.same(
    accounts.map(({ email }) => email).filter(email => email.startsWith('half-done')),
    [],
  );
  t.same((await untilFacts(box, isAtRest)).faults, []);
  t.same(await box.stop(), { code: 0, signal: null });
});

async function dieInWrite(box: PosternBox): Promise<NodeJS.Signals | null> {
  const module = pathToFileURL(join(packageRoot, 'dist/src/store/open-store.js')).href;
  const args = ['--input-type=module', '-e', VICTIM, module, box.dataDir, String(box.mapSizeBytes)];
  const victim = spawn(process.execPath, args, { stdio: 'inherit' });
  const [, signal] = (await once(victim, 'exit')) as [number | null, NodeJS.Signals | null];
  return signal;
}
