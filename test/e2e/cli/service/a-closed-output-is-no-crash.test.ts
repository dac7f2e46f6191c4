import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { type CliBox, cliBox, DOMAIN } from '../cli-box.js';

const script = join(import.meta.dirname, '../cli-process.js');

/** Runs a command, reads one chunk of its output at most, and goes. */
async function runAndLeave(box: CliBox, args: readonly string[], readsFirst: boolean) {
  const child = spawn(process.execPath, [script, '--config', box.configFile, ...args], {
    env: { ...process.env, ...box.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  const err = text(child.stderr);
  if (readsFirst) await once(child.stdout, 'data');
  child.stdout.destroy();
  const [code, signal] = await exited;
  return { code, signal, err: await err };
}

t.test('whoever has seen enough of a message may go', async t => {
  const box = await cliBox(t);
  const id = await box.deliver(`postmaster@${DOMAIN}`, Buffer.alloc(2_000_000, 'line\r\n'));
  t.same(await runAndLeave(box, ['message', 'raw', id], true), { code: 0, signal: null, err: '' });
});

t.test('whoever has seen enough of a listing may go', async t => {
  const box = await cliBox(t);
  t.same(await runAndLeave(box, ['account', 'list'], false), { code: 0, signal: null, err: '' });
});

t.test('an answer to a change that nobody read is told on stderr, with exit code 1', async t => {
  const box = await cliBox(t);
  const { code, err } = await runAndLeave(box, ['account', 'create', 'ada@example.org'], false);
  t.equal(code, 1);
  t.match(err, /^postern: nobody read the answer to its end; what the command changed stays changed\.\n$/);
  t.match(await box.json('account', 'show', 'ada@example.org'), { email: 'ada@example.org' });
});
