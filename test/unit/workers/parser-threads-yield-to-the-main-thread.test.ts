import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { ParsePool } from '../../../src/workers/parse-pool.js';
import { recordingLog } from '../../support/redis/redis.js';

/** The nice values of the threads of this process, by thread id (proc(5): field 19 of stat). */
function niceValues(): Map<string, number> {
  const values = new Map<string, number>();
  for (const thread of readdirSync('/proc/self/task')) {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
    values.set(thread, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]));
  }
  return values;
}

t.test('they run at a lower priority, and only they', async t => {
  const before = niceValues().get(String(process.pid)) ?? 0;
  const pool = new ParsePool({ workers: 1, timeoutMs: 30_000, memoryMib: 128, log: recordingLog() });
  t.teardown(() => pool.stop());
  await pool.start();
  const after = niceValues();
  t.equal(after.get(String(process.pid)), before);
  t.equal([...after.values()].filter(nice => nice === 10).length, 1);
});
