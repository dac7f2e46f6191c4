import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent, type TestAgent } from '../support/box/agents.js';
import { type PosternBox, startBox } from '../support/box/postern-box.js';
import { canMount, mountSmallDisk } from '../support/box/small-disk.js';
import { isAtRest, untilFacts } from '../support/box/store-facts.js';
import { writeLetter } from '../support/letters/letters.js';
import { freePort, runRedis } from '../support/redis/own-redis.js';
import { checkBook } from '../support/smtp/check-book.js';
import { deliver, SENDER } from '../support/smtp/deliver.js';
import { Senders } from '../support/smtp/senders.js';
import { SmtpClient, stuff } from '../support/smtp/smtp-client.js';

/** How often the disk is filled to its last byte. */
const ROUNDS = 4;

const skip = canMount() ? false : 'needs the right to mount a file system (run as root)';

t.test(
  'below the floor of the disk mail is put off, nothing breaks, and it is taken when there is room',
  { skip },
  async t => {
    const disk = mountSmallDisk(t, 96);
    const box = await startBox(t, {
      dataDir: `${disk.path}/data`,
      env: { POSTERN_STORE_DISK_FLOOR_MIB: '32', POSTERN_STORE_MAP_SIZE_GIB: '1' },
    });
    const agent = await createAgent(box);
    const before = await deliver(box, agent.address, writeLetter({ bytes: 200_000 }));
    await agent.api.finished(before);
    const late = await SmtpClient.ready(box.smtpPort);
    await late.openData(SENDER, [agent.address]);
    await late.write(writeLetter({ bytes: 500_000 }).raw);

    disk.fill(20);
    await untilMailIs(box, agent, 452);
    const client = await SmtpClient.ready(box.smtpPort);
    t.equal(
      (await client.command(`MAIL FROM:<${SENDER}>`)).text,
      '452 4.3.1 Insufficient system storage, try again later',
    );
    await late.write(writeLetter({ bytes: 1_000 }).raw);
    t.equal((await late.command('.')).code, 452, 'a message on its way is put off at its final dot');
    t.equal((await box.api().get('/readyz')).status, 503, 'not ready');
    t.equal(
      (await agent.api.raw(before)).length,
      (await agent.api.detail(before)).raw_size,
      'reading goes on',
    );
    t.equal((await agent.api.delete(`/v1/messages/${before}`)).status, 202, 'and so does deleting');

    disk.empty();
    await untilMailIs(box, agent, 250);
    const after = await deliver(box, agent.address, writeLetter());
    t.equal((await agent.api.finished(after)).processing_status, 'ready');
    const facts = await untilFacts(box, isAtRest);
    t.same([facts.faults, facts.messages.length], [[], 1], 'nothing is left of what was put off or deleted');
    t.equal((await box.stop()).code, 0);
  },
);

t.test('a full map puts mail off, and deleting makes room', async t => {
  const box = await startBox(t, { env: { POSTERN_STORE_MAP_SIZE_GIB: '0.03125' } });
  const agent = await createAgent(box);
  const ids: string[] = [];
  const sent = await fillMap(box, agent, ids);
  // Parsing may take less than was set aside for it.
  while ((await box.api().get('/readyz')).status !== 503) {
    for (const [id, raw] of await fillMap(box, agent, ids)) sent.set(id, raw);
  }
  t.ok(ids.length > 20, `${ids.length} messages of 300 KB went in`);
  for (const id of ids)
    t.ok((await agent.api.raw(id)).equals(sent.get(id)!), 'what was accepted can be read');

  for (const id of ids.splice(0, 30)) t.equal((await agent.api.delete(`/v1/messages/${id}`)).status, 202);
  await untilMailIs(box, agent, 250);
  ids.push(await deliver(box, agent.address, writeLetter()));
  await box.restart();
  for (const id of ids) t.equal((await agent.api.finished(id)).processing_status, 'ready');
  const facts = await untilFacts(box, isAtRest);
  t.same([facts.faults, facts.messages.length], [[], ids.length]);
});

t.test('what was accepted up to the limit of the map is parsed all the same', async t => {
  const port = await freePort();
  const box = await startBox(t, {
    env: {
      POSTERN_STORE_MAP_SIZE_GIB: '0.03125',
      POSTERN_REDIS_MODE: 'external',
      POSTERN_REDIS_URL: `redis://127.0.0.1:${port}`,
    },
  });
  const agent = await createAgent(box);
  const ids: string[] = [];
  await fillMap(box, agent, ids);
  t.comment(`${ids.length} messages were accepted before any was parsed`);
  // What comes out of these letters is as long as they are themselves.
  await runRedis(t, port);
  for (const id of ids) t.equal((await agent.api.finished(id)).processing_status, 'ready');
  for (const id of ids.splice(0, Math.ceil(ids.length * 0.7))) {
    t.equal((await agent.api.delete(`/v1/messages/${id}`)).status, 202);
  }
  await untilMailIs(box, agent, 250);
  await deliver(box, agent.address, writeLetter());
  const facts = await untilFacts(box, isAtRest);
  t.same([facts.faults, facts.messages.length], [[], ids.length + 1]);
});

t.test(
  'on a disk that is full to the last byte nothing is acknowledged that is not stored',
  { skip },
  async t => {
    const disk = mountSmallDisk(t, 160);
    // The smallest floor there is, and others who eat the disk faster than it is looked at.
    const box = await startBox(t, {
      dataDir: `${disk.path}/data`,
      env: { POSTERN_STORE_DISK_FLOOR_MIB: '1', POSTERN_STORE_MAP_SIZE_GIB: '1' },
    });
    const agent = await createAgent(box);
    const supervisor = new Supervisor(box);
    const senders = new Senders(box, {
      count: 8,
      addresses: [agent.address],
      letterBytes: () => [2_000, 20_000, 150_000][randomInt(3)]!,
    });
    senders.start();
    for (let round = 0; round < ROUNDS; round++) {
      await senders.more(20);
      disk.fill(0);
      await senders.moreRefusals(10);
      disk.empty();
    }
    await senders.more(20);
    await senders.finish();
    await supervisor.stop();
    await box.kill();
    await box.start();
    const { acknowledged, stored, unknown } = await checkBook(t, box, agent, senders.book);
    t.comment(
      `${ROUNDS} times full, ${supervisor.restarts} restarts, ${acknowledged} acknowledged, ${stored} found, ${unknown} unknown`,
    );
    t.same(box.heard(/cannot be written|uncaught|unhandled/), [], 'no commit was fatal');
    t.equal(supervisor.restarts, 0, 'the process lives through it');
    const codes = [...senders.refusals.keys()];
    t.ok(codes.length > 0 && codes.every(code => code >= 400 && code < 500), `refusals are 4xx: ${codes}`);
  },
);

/** Starts the daemon again when it has ended by itself, as systemd does. */
class Supervisor {
  readonly #box: PosternBox;
  readonly #running: Promise<void>;
  #isStopping = false;
  restarts = 0;

  constructor(box: PosternBox) {
    this.#box = box;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#box.kill();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (;;) {
      await this.#box.exited();
      if (this.#isStopping) return;
      this.restarts += 1;
      // On a full disk it may not come up; then it is tried again.
      await this.#box.start().catch(() => delay(100));
    }
  }
}

/** The look at the disk is a tenth of a second old at most; when the next one is taken gives no event. */
async function untilMailIs(box: PosternBox, agent: TestAgent, code: number): Promise<void> {
  for (;;) {
    const client = await SmtpClient.ready(box.smtpPort);
    const reply = await client.command(`MAIL FROM:<${SENDER}>`);
    await client.close();
    if (reply.code === code) return;
    await agent.api.get('/v1/inboxes');
    await delay(20);
  }
}

/** Sends until the map is full; the bytes of what was accepted, by id. */
async function fillMap(box: PosternBox, agent: TestAgent, ids: string[]): Promise<Map<string, Buffer>> {
  const sent = new Map<string, Buffer>();
  for (;;) {
    const client = await SmtpClient.ready(box.smtpPort);
    const letter = writeLetter({ bytes: 300_000 });
    const mail = await client.command(`MAIL FROM:<${SENDER}>`);
    if (mail.code === 452) {
      await client.close();
      return sent;
    }
    await client.command(`RCPT TO:<${agent.address}>`, 250);
    if ((await client.command('DATA')).code !== 354) continue;
    await client.write(stuff(letter.raw));
    const reply = await client.expect(250, 452);
    await client.close();
    const id = /OK (\S+)$/.exec(reply.text)?.[1];
    if (reply.code === 250 && id !== undefined) {
      ids.push(id);
      sent.set(id, letter.raw);
    }
  }
}
