import t from 'tap';
import { chunks, letter, startPool } from './with-pool.js';

t.test('to those in work, those that wait, and those that come later', async t => {
  const { pool, parse } = await startPool(t);
  const outcomes = [parse('spin'), parse('waits'), parse('waits, too')];
  await pool.stop();
  outcomes.push(parse('late'));
  t.same(await Promise.all(outcomes), Array(4).fill({ status: 'stopped' }));
  t.equal(pool.load.threads, 0);
});

t.test('even when a source never answers', async t => {
  const { pool } = await startPool(t);
  async function* silent(): AsyncGenerator<Uint8Array> {
    await new Promise(() => undefined);
    yield Buffer.alloc(1);
  }
  const outcome = pool.parse(letter(silent()));
  await pool.stop();
  t.same(await outcome, { status: 'stopped' });
});

t.test('twice is once', async t => {
  const { pool } = await startPool(t);
  await Promise.all([pool.stop(), pool.stop()]);
  t.same(await pool.parse(letter(chunks('late'))), { status: 'stopped' });
});
