import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Loaded before a command (`node --import`), it ends the process like a power cut just before the step of this number
 * (`KILL_AT_STEP`), a step being a change of names or a flush in the folder of a store.
 */
const at = Number(process.env.KILL_AT_STEP);
let step = 0;

const isOfStore = (target: unknown): boolean =>
  typeof target === 'number' || /\/store(\/|$)/.test(String(target));

for (const name of ['mkdirSync', 'fsyncSync', 'renameSync', 'rmSync'] as const) {
  const original = fs[name] as (...args: unknown[]) => unknown;
  const counted = (...args: unknown[]): unknown => {
    if (isOfStore(args[0])) step += 1;
    if (step === at) process.kill(process.pid, 'SIGKILL');
    return original(...args);
  };
  Object.assign(fs, { [name]: counted });
}
syncBuiltinESMExports();
