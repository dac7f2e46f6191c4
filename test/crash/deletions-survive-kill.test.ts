import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent, type TestAgent } from '../support/box/agents.js';
import { type PosternBox, startBox } from '../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../support/box/store-facts.js';
import { mixedSizes, Senders } from '../support/smtp/senders.js';

const KILLS = 4;

t.test('what was deleted stays deleted over kill -9, and every one of its bytes is freed', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const senders = new Senders(box, { count: 6, addresses: [agent.address], letterBytes: mixedSizes });
  const deleter = new Deleter(box, agent);
  senders.start();
  for (let kill = 0; kill < KILLS; kill++) {
    await box.untilReady();
    await senders.more(40);
    // A random moment is the point: in the middle of parsing, deleting, or freeing.
    await delay(randomInt(100));
    await box.kill();
    await box.start();
  }
  await senders.finish();
  await deleter.stop();

  const left = await agent.api.all(agent.inboxId);
  const risen = left.filter(({ id }) => deleter.deleted.has(id));
  t.same(risen, [], 'no deleted message is listed');
  for (const id of [...deleter.deleted].slice(-50)) {
    t.equal((await agent.api.get(`/v1/messages/${id}/raw`)).status, 404);
  }
  t.comment(
    `${KILLS} kills, ${senders.acknowledged} acknowledged, ${deleter.deleted.size} deleted under load`,
  );
  const sound = await untilFacts(box, isAtRest);
  t.same([sound.faults, sound.messages.length], [[], left.length]);

  for (const { id } of left) await agent.api.delete(`/v1/messages/${id}`);
  const empty = await untilFacts(box, isAtRest);
  t.same([empty.chunks, empty.messages.length, empty.faults], [0, 0, []], 'in the end nothing is left');
});

/** Deletes messages of the newest page, in whatever state they are, without a pause. */
class Deleter {
  readonly #box: PosternBox;
  readonly #agent: TestAgent;
  readonly #running: Promise<void>;
  #isStopping = false;
  /** Deletions that were answered with 202. */
  readonly deleted = new Set<string>();

  constructor(box: PosternBox, agent: TestAgent) {
    this.#box = box;
    this.#agent = agent;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      await this.#box.untilReady();
      // A request that a kill cuts off is repeated with the next page, as an agent would.
      await this.#deletePage().catch(() => delay(10));
    }
  }

  async #deletePage(): Promise<void> {
    const { messages } = await this.#agent.api.page(this.#agent.inboxId, '?limit=10');
    for (const { id } of messages) {
      const { status } = await this.#agent.api.delete(`/v1/messages/${id}`);
      if (status === 202) this.deleted.add(id);
    }
    if (messages.length === 0) await delay(10);
  }
}
