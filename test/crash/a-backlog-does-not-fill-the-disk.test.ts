import { randomBytes } from 'node:crypto';
import { statfsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent, type TestAgent } from '../support/box/agents.js';
import { type PosternBox, startBox } from '../support/box/postern-box.js';
import { canMount, mountSmallDisk, type SmallDisk } from '../support/box/small-disk.js';
import { isAtRest, openStore, readFacts, untilFacts } from '../support/box/store-facts.js';
import { acceptedId, writeLetter } from '../support/letters/letters.js';
import { freePort, runRedis } from '../support/redis/own-redis.js';
import { SENDER } from '../support/smtp/deliver.js';
import { SmtpClient, stuff } from '../support/smtp/smtp-client.js';

const skip = canMount() ? false : 'needs the right to mount a file system (run as root)';
const MIB = 2 ** 20;
const FLOOR_MIB = 32;
/** A quarter of the disk less than the raw bytes alone would take: with what parsing adds they never fit. */
const DISK_MIB = 160;
const LETTERS = 16;
const LETTER_BYTES = 6 * MIB;

t.test('long mail with attachments that waits to be parsed has room for it', { skip }, async t => {
  const disk = mountSmallDisk(t, DISK_MIB);
  const { box, agent, startRedis } = await boxWithoutRedis(t, disk);
  const raw = withAttachment(LETTER_BYTES);
  const replies = await Promise.all(Array.from({ length: LETTERS }, () => send(box, agent, raw)));
  const ids = replies.flatMap(({ id }) => id ?? []);
  const codes = new Set(replies.map(({ code }) => code));
  t.ok(ids.length > 2 && ids.length < LETTERS, `${ids.length} of ${LETTERS} were accepted`);
  t.strictSame([...codes].sort(), [250, 452]);
  const pid = box.pid;

  await startRedis();
  const lowest = await lowestFree(disk, async () => {
    for (const id of ids) t.equal((await agent.api.finished(id)).processing_status, 'ready');
  });
  t.comment(`${lowest >> 20} MiB were free at the least, with a floor of ${FLOOR_MIB}`);
  t.ok(lowest > (FLOOR_MIB - 4) * MIB, 'the floor holds');
  t.equal(box.pid, pid, 'the process lives');
  t.same((await untilFacts(box, isAtRest)).faults, []);
});

t.test(
  'mail that finds no room to be parsed waits, loses no try, and is taken up again',
  { skip },
  async t => {
    const disk = mountSmallDisk(t, DISK_MIB);
    const { box, agent, startRedis } = await boxWithoutRedis(t, disk);
    const sent = await Promise.all([3, 1, 1].map(mib => send(box, agent, withAttachment(mib * MIB))));
    const ids = sent.map(({ id }) => id!);
    disk.fill(FLOOR_MIB - 8);
    await startRedis();
    // A second and more of looks at the disk; each would have begun a try.
    await delay(1_500);
    t.equal((await box.api().get('/readyz')).status, 503);
    const store = openStore(box);
    const { messages } = readFacts(store);
    await store.close();
    t.strictSame(
      messages.map(({ status, tries }) => [status, tries]),
      ids.map(() => ['pending', 0]),
    );

    const refused = await agent.api.post(`/v1/inboxes/${agent.inboxId}/drafts`, { subject: 'later' });
    t.equal(refused.status, 503);
    t.equal(refused.json<{ error: { code: string } }>().error.code, 'draft_unavailable');
    t.ok(Number(refused.headers['retry-after']) > 0, 'and says when to try again');
    const labelled = await agent.api.patch(`/v1/messages/${ids[0]}`, { add_labels: ['a'] });
    t.equal(labelled.status, 503);
    t.equal(labelled.json<{ error: { code: string } }>().error.code, 'insufficient_room');
    t.equal((await agent.api.delete(`/v1/messages/${ids[2]}`)).status, 202, 'deleting goes on');

    await box.kill();
    await box.start();
    disk.empty();
    for (const id of ids.slice(0, 2)) t.equal((await agent.api.finished(id)).processing_status, 'ready');
    const facts = await untilFacts(box, isAtRest);
    t.strictSame(
      facts.messages.map(({ tries }) => tries),
      [1, 1],
    );
    t.same(facts.faults, []);
  },
);

/** A daemon that can parse nothing until its Redis is there. */
async function boxWithoutRedis(t: Parameters<typeof startBox>[0], disk: SmallDisk) {
  const port = await freePort();
  const box = await startBox(t, {
    dataDir: `${disk.path}/data`,
    env: {
      POSTERN_STORE_DISK_FLOOR_MIB: `${FLOOR_MIB}`,
      POSTERN_STORE_MAP_SIZE_GIB: '1',
      POSTERN_REDIS_MODE: 'external',
      POSTERN_REDIS_URL: `redis://127.0.0.1:${port}`,
    },
  });
  return { box, agent: await createAgent(box), startRedis: () => runRedis(t, port) };
}

async function send(
  box: PosternBox,
  agent: TestAgent,
  raw: Buffer,
): Promise<{ code: number; id: string | null }> {
  const client = await SmtpClient.ready(box.smtpPort);
  try {
    const mail = await client.command(`MAIL FROM:<${SENDER}>`);
    if (mail.code === 452) return { code: 452, id: null };
    await client.command(`RCPT TO:<${agent.address}>`, 250);
    const data = await client.command('DATA');
    if (data.code !== 354) return { code: data.code, id: null };
    await client.write(stuff(raw));
    const reply = await client.expect(250, 452);
    return { code: reply.code, id: reply.code === 250 ? acceptedId(reply) : null };
  } finally {
    await client.close();
  }
}

/** A letter of about so many bytes, nearly all of them an attachment in base64. */
function withAttachment(bytes: number): Buffer {
  const file = randomBytes((bytes / 78) * 57)
    .toString('base64')
    .replace(/.{76}/g, '$&\r\n');
  const head = writeLetter()
    .raw.toString('latin1')
    .replace('text/plain; charset=us-ascii', 'multipart/mixed; boundary=b');
  const parts = [
    '--b',
    'Content-Type: text/plain',
    '',
    'Here it is.',
    '--b',
    'Content-Type: application/x-tar',
  ];
  const encoding = [
    'Content-Transfer-Encoding: base64',
    'Content-Disposition: attachment; filename=a.tar',
    '',
  ];
  return Buffer.from([head, ...parts, ...encoding, file, '--b--', ''].join('\r\n'), 'latin1');
}

/** The least that was free on the disk while something went on. */
async function lowestFree(disk: SmallDisk, work: () => Promise<void>): Promise<number> {
  let lowest = Number.POSITIVE_INFINITY;
  const timer = setInterval(() => {
    const { bavail, bsize } = statfsSync(disk.path);
    lowest = Math.min(lowest, bavail * bsize);
  }, 5);
  await work().finally(() => clearInterval(timer));
  return lowest;
}
