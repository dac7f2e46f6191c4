import t from 'tap';
import { letter, startPool, subjectOf } from './with-pool.js';

const big = Buffer.alloc(100_000);

t.test('a source that fails early or late rejects, and the thread is free', async t => {
  const { pool, parse, log } = await startPool(t);
  for (const count of [0, 1, 50]) {
    async function* failing(): AsyncGenerator<Uint8Array> {
      for (let index = 0; index < count; index++) yield big;
      throw new Error('disk on fire');
    }
    await t.rejects(pool.parse(letter(failing())), { message: 'disk on fire' });
  }
  t.equal(subjectOf(await parse('next')), 'next');
  t.same(log.lines, []);
});

t.test('a source that is not read to its end is closed', async t => {
  const { pool } = await startPool(t, { timeoutMs: 300 });
  let isClosed = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      yield Buffer.from('hang');
      for (;;) yield big;
    } finally {
      isClosed = true;
    }
  }
  t.match(await pool.parse(letter(endless())), { reason: 'timeout' });
  t.ok(isClosed);
});
