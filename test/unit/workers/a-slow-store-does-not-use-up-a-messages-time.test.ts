import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { letter, MemorySink, startPool } from './with-pool.js';

const timeoutMs = 1_000;

t.test('reading slowly', async t => {
  const { pool } = await startPool(t, { timeoutMs });
  async function* slow(): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(100_000);
    await delay(1.5 * timeoutMs);
    yield Buffer.alloc(100_000);
  }
  t.match(await pool.parse(letter(slow()), new MemorySink()), { status: 'parsed' });
});

t.test('writing slowly', async t => {
  const { parse } = await startPool(t, { timeoutMs });
  let calls = 0;
  const sink = {
    begin: () => delay(1.5 * timeoutMs),
    write: async () => {
      if (++calls === 1) await delay(1.5 * timeoutMs);
    },
    end: () => undefined,
  };
  t.match(await parse('attach', sink), { status: 'parsed' });
});
