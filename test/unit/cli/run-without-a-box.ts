import { runCli } from '../../../src/cli/program.js';
import { readClock } from '../../../src/ops/read-clock.js';

/** Runs the command line where there is neither configuration nor store. */
export async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCli(args, {
    serve: () => Promise.reject(new Error('no daemon is wanted here')),
    memoryNeeds: async () => [],
    version: '1.2.3',
    readClock,
    openIndex: async () => {
      throw new Error('nothing is searched');
    },
    certificates: async () => ({
      status: () => [],
      obtain: () => Promise.reject(new Error('nobody is asked for a certificate')),
    }),
    outside: async () => ({
      addresses: async () => [],
      tryOutgoing: () => Promise.reject(new Error('nothing is tried')),
      callHook: () => Promise.reject(new Error('nobody is called')),
      greetingOf: () => Promise.reject(new Error('nobody is greeted')),
      lookAtRedis: () => Promise.reject(new Error('no Redis is asked')),
    }),
    stdin: async function* () {},
    stdout: async data => void out.push(String(data)),
    stderr: async data => void err.push(String(data)),
    terminals: { stdout: false, stderr: false },
    env: {},
    cwd: '/nonexistent',
  });
  return { code, out: out.join(''), err: err.join('') };
}
