import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createAgent } from '../support/box/agents.js';
import { type Exit, startBox } from '../support/box/postern-box.js';
import { dataDirectory } from '../unit/store/with-store.js';

// The tests wait for deadlines, not for each other.
t.jobs = 5;

/** A process that exits while its store is written, and the thread of LMDB waits for its main thread. */
async function exitAmidUnit(t: Test, how: 'guarded' | 'bare') {
  const script = join(import.meta.dirname, 'children/exit-amid-a-unit.js');
  const child = spawn(process.execPath, [script, dataDirectory(t), how], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit').then(([code, signal]): Exit => ({ code, signal }));
  await once(child.stdout, 'data');
  return { exitingSinceMs: performance.now(), ended };
}

t.test(
  'process.exit never returns while LMDB waits for the main thread: the fault that the guard is for',
  async t => {
    const { ended } = await exitAmidUnit(t, 'bare');
    t.equal(await Promise.race([ended, delay(3_000)]), undefined, 'it hangs');
  },
);

for (let round = 1; round <= 3; round++) {
  t.test(`a guarded exit ends whatever its clean-up does, ${round}`, { buffered: true }, async t => {
    const { exitingSinceMs, ended } = await exitAmidUnit(t, 'guarded');
    t.same(await ended, { code: null, signal: 'SIGKILL' }, 'its supervisor sees a failure');
    t.comment(`gone after ${Math.round(performance.now() - exitingSinceMs)} ms`);
  });
}

/** A main thread that never comes back, from a signal on. */
const STUCK = `data:text/javascript,${encodeURIComponent("process.on('SIGUSR2', () => { for (;;); });")}`;

t.test('a stop that finds the main thread stuck ends the daemon', { buffered: true }, async t => {
  const box = await startBox(t, { nodeArguments: ['--import', STUCK] });
  await createAgent(box);
  const stopping = box.hear(/^stopping$/);
  const exit = box.signal('SIGTERM');
  await stopping;
  process.kill(box.pid, 'SIGUSR2');
  t.same(await exit, { code: null, signal: 'SIGKILL' });
});
