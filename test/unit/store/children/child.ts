import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Test } from 'tap';

export interface Child {
  readonly process: ChildProcess;
  /** The next line that it writes. */
  readonly nextLine: () => Promise<string>;
  readonly kill: () => Promise<void>;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/** Starts a compiled script of this folder in a process of its own. */
export function startChild(t: Test, script: string, args: readonly string[], shell?: string): Child {
  const file = join(import.meta.dirname, script);
  const child =
    shell === undefined
      ? spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
      : spawn('bash', ['-c', shell, process.execPath, file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit').then(([code, signal]) => (signal ?? code) as number | NodeJS.Signals);
  t.teardown(() => void child.kill('SIGKILL'));
  const lines = lineReader(createInterface({ input: child.stdout }));
  return {
    process: child,
    nextLine: lines,
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
    ended,
  };
}

function lineReader(input: Interface): () => Promise<string> {
  const iterator = input[Symbol.asyncIterator]();
  return async () => {
    const { value, done } = await iterator.next();
    if (done === true) throw new Error('the child ended without another line');
    return value as string;
  };
}
