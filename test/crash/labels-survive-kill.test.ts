import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent, type TestAgent } from '../support/box/agents.js';
import { killRepeatedly } from '../support/box/kills.js';
import { type PosternBox, startBox } from '../support/box/postern-box.js';
import { Senders } from '../support/smtp/senders.js';

const KILLS = 5;
const LABELS = ['alpha', 'beta', 'gamma', 'delta'];

t.test(
  'labels, Trash and deletions that were acknowledged survive kill -9, and everything agrees',
  async t => {
    const box = await startBox(t);
    const agent = await createAgent(box);
    const senders = new Senders(box, {
      count: 3,
      addresses: [agent.address],
      letterBytes: () => randomInt(500, 90_000),
    });
    const clerks = Array.from({ length: 4 }, (_, lane) => new Clerk(box, agent, lane));
    senders.start();
    for (const clerk of clerks) clerk.start();
    // Within a batch, a change, a sweep.
    await killRepeatedly(t, box, { kills: KILLS, withinMs: 150, work: async () => senders.more(30) });
    await senders.finish();
    for (const clerk of clerks) await clerk.stop();

    const changed = clerks.flatMap(clerk => [...clerk.book]);
    const wrong: string[] = [];
    for (const [id, allowed] of changed) {
      const seen = await look(agent, id);
      if (!allowed.includes(seen)) wrong.push(`${id}: ${seen}, not ${allowed.join(' or ')}`);
    }
    t.same(wrong, [], 'every message is as its last acknowledged change left it');
    t.comment(`${KILLS} kills, ${senders.acknowledged} messages, ${changed.length} of them changed`);
    const run = await box.cli('verify');
    t.equal(run.code, 0, `sound beside the daemon: ${run.stderr}`);
    await box.stop();
    t.match(await box.cliJson('verify'), { sound: true }, 'sound after an orderly stop');
  },
);

/** How a message looks to its agent: its labels, or where it is. */
async function look(agent: TestAgent, id: string): Promise<string> {
  const got = await agent.api.get(`/v1/messages/${id}`);
  if (got.status === 200) return [...got.json<{ labels: string[] }>().labels].sort().join(' ');
  const trash = await agent.api.post(`/v1/messages/${id}/trash`, {});
  return trash.status === 404 ? 'deleted' : 'in Trash';
}

/** Changes messages without a pause and keeps book of how each may look since the last answer. */
class Clerk {
  /** Message -> how it may look: one way after an answer, two while none has come. */
  readonly book = new Map<string, string[]>();
  readonly #box: PosternBox;
  readonly #agent: TestAgent;
  readonly #lane: number;
  #running: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(box: PosternBox, agent: TestAgent, lane: number) {
    this.#box = box;
    this.#agent = agent;
    this.#lane = lane;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      await this.#box.untilReady();
      // A request that a kill cuts off: how its message looks is open until the next answer.
      await this.#work().catch(() => delay(10));
    }
  }

  async #work(): Promise<void> {
    const { messages } = await this.#agent.api.page(this.#agent.inboxId, '?limit=40');
    // Each clerk has messages of its own: what another does meanwhile would not be in its book.
    const own = messages.filter(({ id }) => Number.parseInt(id.slice(-2), 16) % 4 === this.#lane);
    if (own.length === 0) return delay(10).then(() => undefined);
    await this.#label(own.slice(0, 8));
    const [first, second] = own;
    if (first !== undefined && randomInt(3) === 0) await this.#trashAndRestore(first.id);
    if (second !== undefined && randomInt(3) === 0) {
      await this.#change(second.id, 'deleted', 202, () =>
        this.#agent.api.delete(`/v1/messages/${second.id}`),
      );
    }
  }

  /** One batch: all of it or nothing. */
  async #label(messages: readonly { id: string; labels: readonly string[] }[]): Promise<void> {
    const add = LABELS[randomInt(LABELS.length)] ?? '';
    const remove = LABELS.find(label => label !== add) ?? '';
    for (const { id, labels } of messages) {
      const before = this.book.get(id) ?? [[...labels].sort().join(' ')];
      const after = before.map(text => [...new Set([...text.split(' '), add])]);
      const changed = after.map(names =>
        names
          .filter(name => name !== remove && name !== '')
          .sort()
          .join(' '),
      );
      this.book.set(id, [...before, ...changed]);
    }
    const body = { message_ids: messages.map(({ id }) => id), add_labels: [add], remove_labels: [remove] };
    const answer = await this.#agent.api.request('PATCH', '/v1/messages/labels', { body });
    if (answer.status !== 200) throw new Error(`labels: ${answer.status}`);
    for (const { id, labels } of answer.json<{ messages: { id: string; labels: string[] }[] }>().messages) {
      this.book.set(id, [[...labels].sort().join(' ')]);
    }
  }

  async #trashAndRestore(id: string): Promise<void> {
    const { api } = this.#agent;
    const [labels = ''] = this.book.get(id) ?? [];
    await this.#change(id, 'in Trash', 200, () => api.post(`/v1/messages/${id}/trash`, {}));
    if (randomInt(2) === 0)
      await this.#change(id, labels, 200, () => api.post(`/v1/messages/${id}/restore`, {}));
  }

  async #change(
    id: string,
    after: string,
    status: number,
    ask: () => Promise<{ status: number }>,
  ): Promise<void> {
    this.book.set(id, [...(this.book.get(id) ?? []), after]);
    const answer = await ask();
    if (answer.status !== status) throw new Error(`${after}: ${answer.status}`);
    this.book.set(id, [after]);
  }
}
