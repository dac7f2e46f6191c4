import t from 'tap';
import { SINK_WINDOW, SOURCE_PIECE, SOURCE_WINDOW } from '../../../src/workers/parse-protocol.js';
import { gate, letter, startPool } from './with-pool.js';

const CHUNK = 64 * 1024;
const MESSAGE = 25 * 1024 * 1024;

t.test('a store that stops writing stops the reading', async t => {
  const { pool } = await startPool(t);
  let read = 0;
  let written = 0;
  let furthestAhead = 0;
  async function* source(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('copy ');
    for (; read < MESSAGE; read += CHUNK) {
      yield Buffer.alloc(CHUNK, 1);
      furthestAhead = Math.max(furthestAhead, read - written);
    }
  }
  let isHeld = true;
  const held = gate();
  const parsed = pool.parse(letter(source()), {
    begin: () => undefined,
    write: async chunk => {
      if (isHeld) await held.opened;
      written += chunk.byteLength;
    },
    end: () => undefined,
  });
  // Nothing is written until nothing has been read for a while.
  for (let before = -1; before !== read; ) {
    before = read;
    await new Promise(resolve => setTimeout(resolve, 200));
  }
  t.ok(read > 0 && read < MESSAGE, 'the reading stopped');
  isHeld = false;
  held.open();
  t.match(await parsed, { status: 'parsed' });
  t.ok(written >= MESSAGE);
  t.ok(furthestAhead <= SOURCE_WINDOW + SINK_WINDOW + 4 * SOURCE_PIECE, `${furthestAhead} bytes ahead`);
});
