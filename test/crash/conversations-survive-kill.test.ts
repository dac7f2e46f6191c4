import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent, type TestAgent } from '../support/box/agents.js';
import { killRepeatedly } from '../support/box/kills.js';
import { type PosternBox, startBox } from '../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../support/box/store-facts.js';
import { Senders } from '../support/smtp/senders.js';

const KILLS = 4;

t.test('conversations are what their letters make them, whenever the process was killed', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const mentions = new Map<string, readonly string[]>();
  const senders: Senders = new Senders(box, {
    count: 3,
    addresses: [agent.address],
    letterBytes: () => randomInt(500, 20_000),
    // Letters before, those under way and some that nobody has seen, so that parents come late.
    references: () => {
      const known = [
        ...senders.book.map(({ letter }) => letter.messageId),
        `<${randomInt(20)}@never.example>`,
      ];
      return Array.from({ length: randomInt(3) }, () => known[randomInt(known.length)] ?? '');
    },
  });
  const clerk = new Clerk(box, agent);
  senders.start();
  clerk.start();
  // Within a publication, a merge, a change of a whole conversation.
  await killRepeatedly(t, box, {
    kills: KILLS,
    withinMs: 150,
    work: async () => senders.more(40),
  });
  await senders.finish();
  await clerk.stop();
  await untilFacts(box, isAtRest);
  await clerk.restoreAll();

  const threadOf = new Map<string, string>();
  for (const { id } of await agent.api.all(agent.inboxId)) {
    const { message_id, thread_id, content } = await agent.api.detail(id);
    const own = message_id ?? '';
    mentions.set(own, [own, ...(content?.references ?? '').split(/\s+/).filter(text => text !== '')]);
    if (threadOf.get(own) !== undefined) t.equal(thread_id, threadOf.get(own), 'a letter that came twice');
    threadOf.set(own, thread_id ?? 'none');
  }
  t.strictSame(groupsOf(threadOf), groupsOf(componentsOf(mentions)));
  t.comment(
    `${threadOf.size} letters, ${new Set(threadOf.values()).size} conversations, ${clerk.changes} changes`,
  );
  const run = await box.cli('verify');
  t.equal(run.code, 0, `sound beside the daemon: ${run.stderr}`);
});

/** Letters by what they belong to, in one form whatever that is called. */
function groupsOf(belongs: ReadonlyMap<string, string>): string[] {
  const groups = new Map<string, string[]>();
  for (const [letter, group] of belongs) groups.set(group, [...(groups.get(group) ?? []), letter]);
  return [...groups.values()].map(letters => letters.sort().join(' ')).sort();
}

function componentsOf(mentions: ReadonlyMap<string, readonly string[]>): Map<string, string> {
  const leader = new Map<string, string>();
  const find = (id: string): string => {
    const up = leader.get(id) ?? id;
    return up === id ? id : find(up);
  };
  for (const [own, ids] of mentions) for (const id of ids) leader.set(find(id), find(own));
  return new Map([...mentions.keys()].map(own => [own, find(own)]));
}

interface Thread {
  readonly id: string;
}

/** Labels conversations, moves them to Trash and brings their messages back, without a pause. */
class Clerk {
  changes = 0;
  readonly #box: PosternBox;
  readonly #agent: TestAgent;
  #running: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(box: PosternBox, agent: TestAgent) {
    this.#box = box;
    this.#agent = agent;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  async restoreAll(): Promise<void> {
    while ((await this.#restoreSome(100)) > 0);
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      await this.#box.untilReady();
      // A request that a kill cuts off may have been carried out in part: all of it is undone in the end.
      await this.#work().catch(() => delay(10));
    }
  }

  async #work(): Promise<void> {
    const { api, inboxId } = this.#agent;
    const listed = await api.get(`/v1/inboxes/${inboxId}/threads?limit=50`);
    const { threads } = listed.json<{ threads: Thread[] }>();
    const thread = threads[randomInt(Math.max(1, threads.length))];
    if (thread === undefined) return delay(10).then(() => undefined);
    await api.patch(`/v1/threads/${thread.id}`, { add_labels: [`label ${randomInt(5)}`] });
    if (randomInt(2) === 0) await api.delete(`/v1/threads/${thread.id}`);
    await this.#restoreSome(randomInt(1, 20));
    this.changes += 1;
  }

  /** How many were in Trash. */
  async #restoreSome(limit: number): Promise<number> {
    const { api, inboxId } = this.#agent;
    const { messages } = (await api.get(`/v1/inboxes/${inboxId}/trash?limit=${limit}`)).json<{
      messages: Thread[];
    }>();
    for (const { id } of messages) await api.post(`/v1/messages/${id}/restore`);
    return messages.length;
  }
}
