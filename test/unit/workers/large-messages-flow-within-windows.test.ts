import t from 'tap';
import { SOURCE_PIECE, SOURCE_WINDOW } from '../../../src/workers/parse-protocol.js';
import { letter, startPool } from './with-pool.js';

const CHUNK = 64 * 1024;
const MESSAGE = 25 * 1024 * 1024;

t.test('a parser that takes no more stops the reading', async t => {
  const { pool } = await startPool(t, { timeoutMs: 1_500 });
  let read = 0;
  async function* source(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('hang');
    for (; read < MESSAGE; read += CHUNK) yield Buffer.alloc(CHUNK, 1);
  }
  t.match(await pool.parse(letter(source())), { reason: 'timeout' });
  t.ok(read > 0);
  t.ok(read <= SOURCE_WINDOW + 2 * SOURCE_PIECE, `${read} bytes read`);
});
