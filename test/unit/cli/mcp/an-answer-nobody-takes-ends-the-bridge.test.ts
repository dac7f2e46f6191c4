import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { bridge } from '../../../../src/cli/mcp/bridge.js';

t.test('with its error, at the next message or at the end', async t => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  t.teardown(() => process.off('unhandledRejection', note));
  for (const lines of [1, 3]) {
    let written = 0;
    const run = bridge({
      url: 'http://127.0.0.1:9/mcp',
      key: 'pst_none',
      input: (async function* () {
        for (let line = 0; line < lines; line++) {
          yield Buffer.from('no JSON\n');
          await pause(50);
        }
      })(),
      write: async () => {
        written++;
        throw new Error('nobody reads');
      },
      warn: async () => {},
    });
    await t.rejects(run, { message: 'nobody reads' });
    t.equal(written, 1, 'nothing more is passed on');
  }
  t.strictSame(unhandled, []);
});
