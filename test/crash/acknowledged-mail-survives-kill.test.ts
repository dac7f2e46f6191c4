import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent, createInbox } from '../support/box/agents.js';
import { startBox } from '../support/box/postern-box.js';
import { checkBook } from '../support/smtp/check-book.js';
import { mixedSizes, Senders } from '../support/smtp/senders.js';

const KILLS = 20;
/** Every so many kills one hits a daemon that is still starting: recovery must bear being cut off, too. */
const KILL_AT_START = 5;

t.test('acknowledged mail survives kill -9 at any moment, whole, once, and becomes ready', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const inboxes = [agent, await createInbox(agent, 'second'), await createInbox(agent, 'third')];
  const senders = new Senders(box, {
    count: 16,
    addresses: inboxes.map(({ address }) => address),
    letterBytes: mixedSizes,
  });
  senders.start();
  for (let kill = 1; kill <= KILLS; kill++) {
    if (kill % KILL_AT_START === 0) {
      // A random moment is the point here: there is no event to wait for.
      await delay(randomInt(1_200));
    } else {
      await box.untilReady();
      await senders.more(randomInt(1, 80));
      await delay(randomInt(30));
    }
    await box.kill();
    if ((kill + 1) % KILL_AT_START === 0) box.spawn();
    else await box.start();
  }
  await senders.finish();
  await box.kill();
  await box.start();

  const { acknowledged, stored, unknown } = await checkBook(t, box, agent, senders.book);
  t.comment(
    `${KILLS + 1} kills, ${acknowledged} messages acknowledged, ${stored} found, ${unknown} unknown outcomes`,
  );
  t.equal(box.heard(/^postern cannot start$/).length, 0, 'it came up after every kill');
  t.same([...senders.refusals], [], 'and refused nothing');
});
