import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { writeLetter } from '../../support/letters/letters.js';
import { deliver } from '../../support/smtp/deliver.js';

/** A module that Node loads before the daemon's: on a signal it breaks a promise that nobody looks after. */
const SABOTAGE = `data:text/javascript,${encodeURIComponent(
  "process.on('SIGUSR2', () => { Promise.reject(new Error('nobody handles this')); });",
)}`;

t.test('a rejection that nobody handles ends the process, and nothing acknowledged is lost', async t => {
  const box = await startBox(t, { nodeArguments: ['--import', SABOTAGE] });
  const agent = await createAgent(box);
  const letter = writeLetter({ bytes: 200_000 });
  const id = await deliver(box, agent.address, letter);
  const { code, signal } = await box.signal('SIGUSR2');
  // Killed when its clean-up hangs (`app/exit-guard.ts`), which it does while LMDB writes.
  t.ok(code === 1 || signal === 'SIGKILL', 'its supervisor sees a failure');
  t.match(box.heard(/^unhandled rejection$/), [{ level: 'fatal', err: { message: 'nobody handles this' } }]);
  await box.start();
  t.equal((await agent.api.finished(id)).processing_status, 'ready');
  t.ok((await agent.api.raw(id)).equals(letter.raw));
});
