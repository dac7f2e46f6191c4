import t from 'tap';
import { ParsePool } from '../../../src/workers/parse-pool.js';
import { recordingLog } from '../../support/redis/redis.js';
import { chunks, letter } from './with-pool.js';

const limits = { workers: 4, timeoutMs: 30_000, memoryMib: 64 };

t.test('by start, so that the daemon does not come up without a parser', async t => {
  for (const script of ['./broken-thread.js', './absent-thread.js']) {
    const pool = new ParsePool({ ...limits, log: recordingLog(), script: new URL(script, import.meta.url) });
    await t.rejects(pool.start(), { message: /parser threads cannot start/ });
    await pool.stop();
  }
});

t.test('by the log afterwards, and it is tried again with pauses that grow', async t => {
  const log = recordingLog();
  const script = new URL('./broken-thread.js', import.meta.url);
  const pool = new ParsePool({ ...limits, log, script });
  const outcomes = [pool.parse(letter(chunks('one'))), pool.parse(letter(chunks('two')))];
  const delays: unknown[] = [];
  for (let count = 0; count < 4; count++) {
    const { fields } = await log.hear(/cannot start/);
    delays.push('delayMs' in fields ? fields.delayMs : undefined);
  }
  t.same(delays, [100, 200, 400, 800]);
  await pool.stop();
  t.same(await Promise.all(outcomes), [{ status: 'stopped' }, { status: 'stopped' }], 'no message is blamed');
});
