import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent, type TestAgent } from '../support/box/agents.js';
import type { ApiAnswer } from '../support/box/api-client.js';
import { killRepeatedly } from '../support/box/kills.js';
import type { PosternBox } from '../support/box/postern-box.js';
import type { Draft, DraftDetail } from '../support/sending/drafts.js';
import { allSent, type SentMessage, settledSends } from '../support/sending/sending.js';
import { startSmarthostBox } from '../support/smarthost/smarthost-box.js';

const WRITERS = 10;
const DRAFTS_EACH = 14;
const KILLS = 6;

t.test(
  'drafts that are written and sent while the daemon is killed: none is lost, none goes out twice',
  async t => {
    const { box, smarthost } = await startSmarthostBox(t, {
      POSTERN_LIMITS_SENDS: '100000',
      POSTERN_RELAY_SMARTHOST_MAX_CONNECTIONS: '20',
    });
    const agent = await createAgent(box);
    const writers = Array.from({ length: WRITERS }, (_, lane) => new Writer(box, agent, lane));
    let isDone = false;
    const done = Promise.all(writers.map(writer => writer.run())).then(() => {
      isDone = true;
    });
    // Within an edit, a reservation, a sweep.
    await killRepeatedly(t, box, {
      kills: KILLS,
      withinMs: 60,
      isOver: () => isDone,
      work: async () => {
        const goal = written(writers) + 12;
        while (written(writers) < goal && !isDone) await delay(5);
      },
    });
    await done;
    await settledSends(agent);

    const wrong: string[] = [];
    const outcomes = { accepted: 0, unknown: 0, rejected: 0, deleted: 0 };
    for (const { id, mark, versions, isSent, isDeleted } of writers.flatMap(writer => writer.book)) {
      const copies = smarthost.submissions.filter(({ content }) => content.includes(`${mark} `)).length;
      if (copies > 1) wrong.push(`${mark} went out ${copies} times`);
      const got = await agent.api.get(`/v1/drafts/${id}`);
      if (isDeleted) {
        outcomes.deleted += 1;
        if (got.status !== 404) wrong.push(`${mark} was deleted and is there`);
        continue;
      }
      if (got.status !== 200) {
        wrong.push(`${mark}: ${got.status}`);
        continue;
      }
      const { content, state, sent_message_id } = got.json<DraftDetail>();
      const version = Number(/version (\d+)/.exec(content.text)?.[1]);
      if (!versions.has(version)) wrong.push(`${mark} has version ${version}, not ${[...versions]}`);
      if (content.subject !== `${mark} version ${version}`)
        wrong.push(`${mark} is mixed: ${content.subject}`);
      if (isSent !== (state === 'submitted')) wrong.push(`${mark} is ${state}`);
      if (sent_message_id === null) continue;
      const sent = await agent.api.get(`/v1/sent/${sent_message_id}`);
      const { status } = sent.json<SentMessage>();
      outcomes[status] += 1;
      if (status === 'accepted' && copies !== 1) wrong.push(`${mark} is accepted, ${copies} went out`);
      const wire =
        smarthost.submissions.find(one => one.content.includes(`${mark} `))?.content.toString('latin1') ?? '';
      if (copies === 1 && !wire.includes(`${mark} version ${version}\r\n`))
        wrong.push(`${mark} went out as another version`);
    }
    t.same(wrong, []);
    t.comment(`${KILLS} kills, ${written(writers)} changes, ${JSON.stringify(outcomes)}`);
    const all = await allSent(agent);
    t.equal(new Set(all.map(({ id }) => id)).size, all.length);
    const sent = writers.flatMap(writer => writer.book).filter(({ isSent }) => isSent);
    t.equal(all.length, sent.length, 'one attempt a draft');
    t.match(await box.cliJson('verify'), { sound: true }, 'sound beside the daemon');
    await box.stop();
    t.match(await box.cliJson('verify'), { sound: true }, 'sound after an orderly stop');
  },
);

const written = (writers: readonly Writer[]) => writers.reduce((sum, { changes }) => sum + changes, 0);

interface Entry {
  readonly id: string;
  readonly mark: string;
  /** Which ones it may have: one after an answer, two while none has come. */
  readonly versions: Set<number>;
  isSent: boolean;
  isDeleted: boolean;
}

/** Writes drafts, edits them a few times, and sends most of them, each request until it is answered. */
class Writer {
  readonly book: Entry[] = [];
  changes = 0;
  readonly #box: PosternBox;
  readonly #agent: TestAgent;
  readonly #lane: number;

  constructor(box: PosternBox, agent: TestAgent, lane: number) {
    this.#box = box;
    this.#agent = agent;
    this.#lane = lane;
  }

  async run(): Promise<void> {
    for (let number = 0; number < DRAFTS_EACH; number++) {
      const mark = `Draft-${this.#lane}-${number}`;
      const body = { ...this.#fields(mark, 0), to: [{ address: 'far@far.example' }], idempotency_key: mark };
      const created = await this.#ask('POST', `/v1/inboxes/${this.#agent.inboxId}/drafts`, body, 200, 201);
      const { id } = created.json<Draft>();
      const entry: Entry = { id, mark, versions: new Set([0]), isSent: false, isDeleted: false };
      this.book.push(entry);
      for (let version = 1; version <= randomInt(5); version++) {
        entry.versions.add(version);
        await this.#ask('PATCH', `/v1/drafts/${id}`, this.#fields(mark, version), 200);
        entry.versions.clear();
        entry.versions.add(version);
      }
      const fate = randomInt(10);
      if (fate === 0) {
        await this.#ask('DELETE', `/v1/drafts/${id}`, undefined, 202, 404);
        entry.isDeleted = true;
      } else if (fate > 1) {
        const key = number % 2 === 0 ? {} : { idempotency_key: `send-${mark}` };
        await this.#ask('POST', `/v1/drafts/${id}/send`, key, 200, 201);
        entry.isSent = true;
      }
    }
  }

  /** Texts of every length: beside the record, in chunks, with files or without. */
  #fields(mark: string, version: number): object {
    const length = [10, 3_000, 70_000, 150_000][randomInt(4)] ?? 0;
    const filler = 'x'.repeat(length).replace(/x{60}/g, '$&\n');
    const file = {
      filename: 'a.bin',
      type: 'a/b',
      content: Buffer.alloc(randomInt(100_000)).toString('base64'),
    };
    return {
      subject: `${mark} version ${version}`,
      text: `${mark} version ${version}\n${filler}`,
      html: version % 2 === 0 ? null : `<p>${filler}</p>`,
      attachments: version % 3 === 0 ? [file] : [],
    };
  }

  async #ask(
    method: string,
    path: string,
    body: object | undefined,
    ...statuses: number[]
  ): Promise<ApiAnswer> {
    for (;;) {
      await this.#box.untilReady();
      const options = body === undefined ? {} : { body };
      const answer = await this.#agent.api.request(method, path, options).catch(() => null);
      if (answer !== null && statuses.includes(answer.status)) {
        this.changes += 1;
        return answer;
      }
      // The connection was cut, or the queue is not there yet: the same request again.
      if (answer !== null && answer.status !== 503) throw new Error(`${method} ${path}: ${answer.status}`);
      await delay(20);
    }
  }
}
