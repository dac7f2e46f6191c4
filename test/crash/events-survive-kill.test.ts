import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import type { AccountEvent } from '../../src/contract/events.js';
import { createAgent, type TestAgent } from '../support/box/agents.js';
import { killRepeatedly } from '../support/box/kills.js';
import { startBox } from '../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../support/box/store-facts.js';
import { Senders } from '../support/smtp/senders.js';

const KILLS = 8;

t.test('events survive kill -9: none is lost, none is skipped, and their order stays', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const senders = new Senders(box, {
    count: 4,
    addresses: [agent.address],
    letterBytes: () => randomInt(500, 50_000),
  });
  const readers = [new Reader(agent, 0), new Reader(agent, 50)];
  senders.start();
  for (const reader of readers) reader.start();
  await killRepeatedly(t, box, {
    kills: KILLS,
    withinMs: 150,
    work: async () => senders.more(randomInt(5, 40)),
  });
  await senders.finish();
  const facts = await untilFacts(box, isAtRest);
  const late = new Reader(agent, 0);
  late.start();
  for (const reader of [...readers, late]) await reader.stop();
  for (const reader of [...readers, late]) {
    const sequences = reader.events.map(({ sequence }) => sequence);
    t.same(
      sequences,
      Array.from(sequences, (_, at) => at + 1),
      'one after the other, each once',
    );
    t.ok(isDeepStrictEqual(reader.events, late.events), 'whoever reads, and whenever, reads the same');
  }
  const told = late.events.flatMap(event => (event.type === 'message.received' ? event.message_id : []));
  t.same(told.toSorted(), facts.messages.map(({ id }) => id as string).toSorted(), 'of every message, once');
  t.comment(`${KILLS} kills, ${told.length} messages, ${late.events.length} events`);
});

type Told = Omit<AccountEvent, 'summary'> & { readonly message_id?: string };

/** Reads the feed from its beginning, whatever happens to the service. */
class Reader {
  readonly events: Told[] = [];
  readonly #agent: TestAgent;
  readonly #waitS: number;
  #running: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(agent: TestAgent, waitS: number) {
    this.#agent = agent;
    this.#waitS = waitS;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Resolves when it has read all that there is. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let after = ''; ; ) {
      const isLast = this.#isStopping;
      const wait = isLast ? 0 : this.#waitS;
      const path = `/v1/events?limit=7&wait=${Math.min(wait, 2)}${after}`;
      const got = await this.#agent.api.get(path).catch(() => null);
      if (got === null || got.status !== 200) {
        await delay(20);
        continue;
      }
      const { events, next_cursor } = got.json<{ events: AccountEvent[]; next_cursor: string }>();
      for (const { summary, ...event } of events) this.events.push(event as Told);
      after = `&after=${next_cursor}`;
      if (isLast && events.length === 0) return;
      if (events.length === 0) await delay(20);
    }
  }
}
