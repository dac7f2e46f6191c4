import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { undoAtExit } from './cleanup.js';

/** How long a process may take to end when asked to. */
const STOP_MS = 15_000;

export function startChild(
  command: string,
  args: readonly string[],
  options: SpawnOptions = { stdio: ['pipe', 'pipe', 'inherit'] },
): ChildProcess {
  const child = spawn(command, args, options);
  const isGone = undoAtExit(() => child.kill('SIGKILL'));
  child.once('exit', isGone);
  return child;
}

/** Starts a script of this folder, given by its path with the extension .js. */
export function startScript(script: string, parameters: object = {}): ChildProcess {
  return startChild(process.execPath, [`${import.meta.dirname}/${script}`, JSON.stringify(parameters)]);
}

export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await exited;
  clearTimeout(timer);
}

/** Resolves with what a process writes until it ends. Rejects when it fails or takes longer than `timeoutMs`. */
export async function outputOf(child: ChildProcess, timeoutMs: number): Promise<string> {
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  clearTimeout(timer);
  if (code !== 0) throw new Error(`${child.spawnargs.slice(0, 2).join(' ')} ended with ${code ?? signal}`);
  return output;
}

/** Resolves with the first line of a process for which `accept` returns something. */
export async function lineOf<Found>(
  child: ChildProcess,
  accept: (line: string) => Found | undefined,
  timeoutMs: number,
): Promise<Found> {
  const { stdout } = child;
  if (stdout === null) throw new Error('no output to listen to');
  let buffered = '';
  let seen = '';
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`${child.spawnargs.join(' ')} ${why}:\n${seen}`));
    const timer = setTimeout(() => fail('does not get ready'), timeoutMs);
    child.once('exit', code => fail(`ended with ${code}`));
    stdout.setEncoding('utf8').on('data', (text: string) => {
      buffered += text;
      const lines = buffered.split('\n');
      buffered = lines.pop() ?? '';
      for (const line of lines) {
        // Keeps only what an error message needs. The listener stays, so that the pipe never fills.
        if (seen.length < 4_000) seen += `${line}\n`;
        const found = accept(line);
        if (found === undefined) continue;
        clearTimeout(timer);
        resolve(found);
      }
    });
  });
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}
