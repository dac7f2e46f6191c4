import { statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { storeFolder } from '../../src/store/engine/store.js';
import { createAgent, type TestAgent } from '../support/box/agents.js';
import { type PosternBox, startBox } from '../support/box/postern-box.js';
import { canMount, mountSmallDisk } from '../support/box/small-disk.js';
import { isAtRestButForTheIndex, untilFacts } from '../support/box/store-facts.js';
import { acceptedId, writeLetter } from '../support/letters/letters.js';
import { SENDER } from '../support/smtp/deliver.js';
import { SmtpClient, stuff } from '../support/smtp/smtp-client.js';

const skip = canMount() ? false : 'needs the right to mount a file system (run as root)';
const MIB = 2 ** 20;
const FLOOR_MIB = 32;
/** Chunks of many messages, and many that are no chunk. */
const SIZES = [1_200_000, 300_000, 20_000, 20_000, 20_000];

t.test(
  'a store at the floor of its disk takes mail again in the place of mail that was deleted',
  { skip },
  async t => {
    const disk = mountSmallDisk(t, 128);
    const free = () => statfsSync(disk.path).bavail * statfsSync(disk.path).bsize;
    const box = await startBox(t, {
      dataDir: `${disk.path}/data`,
      env: { POSTERN_STORE_DISK_FLOOR_MIB: `${FLOOR_MIB}`, POSTERN_STORE_MAP_SIZE_GIB: '1' },
    });
    const agent = await createAgent(box);
    const first = await fill(box, agent);
    await settled(box, agent, first);
    const freeBefore = free();
    const storeBytes = () => statSync(join(storeFolder(box.dataDir), 'data.mdb')).size;
    const bytesBefore = storeBytes();
    t.ok(
      freeBefore < 40 * MIB,
      `the floor is reached: ${first.length} messages, ${freeBefore >> 20} MiB free`,
    );

    // Every message but each seventh, so that what is free lies scattered.
    const kept = first.filter((_, n) => n % 7 === 0);
    for (const id of first) if (!kept.includes(id)) await agent.api.delete(`/v1/messages/${id}`);
    await untilFacts(box, isAtRestButForTheIndex);
    t.equal(storeBytes(), bytesBefore, 'the file of the store gives the disk nothing back');
    const status = await box.cliJson<{ store: { reusable_bytes: number; has_room: boolean } }>('status');
    t.ok(
      status.store.reusable_bytes > 20 * MIB,
      `${status.store.reusable_bytes >> 20} MiB can be used again`,
    );
    t.ok(status.store.has_room);

    const second = await fill(box, agent);
    await settled(box, agent, second);
    t.ok(second.length > first.length / 4, `${second.length} messages fit where ${first.length} had been`);
    t.ok(free() > (FLOOR_MIB * 3 * MIB) / 4, `${free() >> 20} MiB are still free`);
    for (const id of kept) t.equal((await agent.api.detail(id)).processing_status, 'ready');
    t.same((await untilFacts(box, isAtRestButForTheIndex)).faults, []);
    t.equal((await box.stop()).code, 0);

    const noRoom = await box.cli('compact');
    t.match(noRoom, { code: 1, stderr: /a copy needs about .* that are free/ });
    t.match(noRoom, { stderr: /Nothing was changed.*--to/ });
  },
);

/** Sends until there is no room for the shortest; the ids of what was accepted. */
async function fill(box: PosternBox, agent: TestAgent): Promise<string[]> {
  const ids: string[] = [];
  for (let refused = 0, n = 0; refused < SIZES.length; n++) {
    const id = await offer(box, agent, writeLetter({ bytes: SIZES[n % SIZES.length]! }).raw);
    refused = id === null ? refused + 1 : 0;
    if (id !== null) ids.push(id);
  }
  return ids;
}

/** The id, or null when it was put off for want of room. */
async function offer(box: PosternBox, agent: TestAgent, raw: Buffer): Promise<string | null> {
  const client = await SmtpClient.ready(box.smtpPort);
  try {
    if ((await client.command(`MAIL FROM:<${SENDER}>`)).code === 452) return null;
    await client.command(`RCPT TO:<${agent.address}>`, 250);
    if ((await client.command('DATA')).code !== 354) return null;
    await client.write(stuff(raw));
    const reply = await client.expect(250, 452);
    return reply.code === 250 ? acceptedId(reply) : null;
  } finally {
    await client.close();
  }
}

/** All that was accepted is parsed, although the floor is reached: its room was promised. */
async function settled(box: PosternBox, agent: TestAgent, ids: readonly string[]): Promise<void> {
  for (const id of ids) await agent.api.finished(id);
  await untilFacts(box, isAtRestButForTheIndex);
}
