import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { cliBox } from '../cli-box.js';

t.test('the status is shown again until it is interrupted', async t => {
  const box = await cliBox(t);
  const script = join(import.meta.dirname, '../cli-process.js');
  const args = [script, '--config', box.configFile, '--json', 'status', '--watch', '1'];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...box.env }, cwd: box.folder });
  const documents: { version: string }[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    documents.push(JSON.parse(line) as { version: string });
    if (documents.length === 2) break;
  }
  child.kill('SIGINT');
  const [code, signal] = await once(child, 'exit');
  t.same([code, signal], [null, 'SIGINT']);
  t.same(
    documents.map(({ version }) => version),
    ['1.2.3', '1.2.3'],
  );
});

t.test('the pause is a number of seconds', async t => {
  const box = await cliBox(t);
  t.equal((await box.run('status', '--watch', 'often')).code, 2);
});
