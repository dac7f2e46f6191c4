import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { letter, startPool } from './with-pool.js';

const timeoutMs = 1_000;

t.test('the clock stands still while it reads', async t => {
  const { pool } = await startPool(t, { timeoutMs });
  async function* slow(): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(100_000);
    await delay(1.5 * timeoutMs);
    yield Buffer.alloc(100_000);
  }
  t.match(await pool.parse(letter(slow())), { status: 'parsed' });
});
