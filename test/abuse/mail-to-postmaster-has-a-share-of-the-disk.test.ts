import t from 'tap';
import { createAgent } from '../support/box/agents.js';
import { DOMAIN, startBox } from '../support/box/postern-box.js';
import { canMount, mountSmallDisk } from '../support/box/small-disk.js';
import { acceptedId, writeLetter } from '../support/letters/letters.js';
import { deliver, SENDER } from '../support/smtp/deliver.js';
import { SmtpClient, stuff } from '../support/smtp/smtp-client.js';

const skip = canMount() ? false : 'needs the right to mount a file system (run as root)';
const MIB = 2 ** 20;

t.test('strangers who write to postmaster and abuse fill their share and no more', { skip }, async t => {
  const disk = mountSmallDisk(t, 160);
  const box = await startBox(t, {
    dataDir: `${disk.path}/data`,
    env: { POSTERN_STORE_DISK_FLOOR_MIB: '16', POSTERN_STORE_MAP_SIZE_GIB: '1' },
  });
  const agent = await createAgent(box);
  const roles = [`postmaster@${DOMAIN}`, `abuse@${DOMAIN}`, 'Postmaster'];
  let taken = 0;
  while (taken < 40 && (await write(box.smtpPort, roles[taken % 3]!)) !== null) taken += 1;
  t.ok(taken > 1 && taken < 12, `${taken} messages of 1 MiB were taken on a disk of 160 MiB`);
  const client = await SmtpClient.ready(box.smtpPort);
  await client.command(`MAIL FROM:<${SENDER}>`, 250);
  // What is left of the share may be less than a message, which is put off at its end; and what the parsing of an
  // earlier one may take is given back when it has ended.
  const areRefused = async (): Promise<boolean> => {
    if ((await write(box.smtpPort, roles[0]!, 60_000)) !== null) return false;
    const answers: string[] = [];
    for (const role of roles) answers.push((await client.command(`RCPT TO:<${role}>`)).text);
    return answers.every(text => text === '452 4.3.1 Insufficient system storage, try again later');
  };
  let isFull = false;
  for (let n = 0; n < 200 && !isFull; n++) isFull = await areRefused();
  t.ok(isFull, 'all of them are put off at RCPT');
  await client.command(`RCPT TO:<${agent.address}>`, 250);
  await client.close();
  const id = await deliver(box, agent.address, writeLetter({ bytes: MIB }));
  t.equal((await agent.api.finished(id)).processing_status, 'ready', 'others have the rest');
});

t.test('what the operator deletes of it makes room in the share', { skip }, async t => {
  const disk = mountSmallDisk(t, 96);
  const box = await startBox(t, {
    dataDir: `${disk.path}/data`,
    env: { POSTERN_STORE_DISK_FLOOR_MIB: '16', POSTERN_STORE_MAP_SIZE_GIB: '1' },
  });
  const role = `postmaster@${DOMAIN}`;
  const ids: string[] = [];
  for (let id = await write(box.smtpPort, role); id !== null && ids.length < 40; ) {
    ids.push(id);
    id = await write(box.smtpPort, role);
  }
  t.ok(ids.length < 40);
  for (const id of ids) t.equal((await box.cli('message', 'delete', id)).code, 0);
  t.not(await write(box.smtpPort, role), null);
});

/** The id of a message of so many bytes, or null when it was put off at RCPT or at its end. */
async function write(port: number, recipient: string, bytes = MIB): Promise<string | null> {
  const client = await SmtpClient.ready(port);
  try {
    await client.command(`MAIL FROM:<${SENDER}>`, 250);
    if ((await client.command(`RCPT TO:<${recipient}>`)).code === 452) return null;
    await client.command('DATA', 354);
    await client.write(stuff(writeLetter({ bytes }).raw));
    const reply = await client.expect(250, 452);
    return reply.code === 250 ? acceptedId(reply) : null;
  } finally {
    await client.close();
  }
}
