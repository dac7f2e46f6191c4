import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent } from '../support/box/agents.js';
import { type PosternBox, startBox } from '../support/box/postern-box.js';
import { writeLetter } from '../support/letters/letters.js';
import { deliver } from '../support/smtp/deliver.js';
import { SmtpClient } from '../support/smtp/smtp-client.js';
import { openDescriptors, watchGrowth } from './process-facts.js';
import { warmUp } from './warm-up.js';

const GIB = 2 ** 30;
const block = Buffer.from(`${'x'.repeat(62)}\r\n`.repeat(4096));
const MAY_GROW_MIB = 96;

/** Sends a message without end at full speed; what was written before the server hung up. */
async function flood(box: PosternBox, to: string, isDeaf: boolean): Promise<{ sent: number; code: number }> {
  const client = await SmtpClient.ready(box.smtpPort);
  await client.openData('a@b.example', [to]);
  const { socket } = client;
  // A deaf one neither reads the reply nor minds the FIN: only a reset stops it.
  if (isDeaf) socket.removeAllListeners('data').removeAllListeners('end').pause();
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()));
  let sent = 0;
  while (sent < GIB && !socket.destroyed && (isDeaf || !client.isClosed)) {
    sent += block.length;
    if (socket.write(block)) continue;
    await Promise.race([new Promise<void>(resolve => socket.once('drain', () => resolve())), closed]);
  }
  const code = isDeaf ? 0 : ((await client.reply())?.code ?? 0);
  return { sent, code };
}

t.test('one sender, up to a gigabyte: 552 and closed soon behind the limit', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  await warmUp(box, agent);
  const growth = watchGrowth(box.pid);
  const { sent, code } = await flood(box, agent.address, false);
  const grownMib = growth.stop();
  t.equal(code, 552);
  t.ok(sent < 64 * 2 ** 20, `${sent} bytes were written, most of them taken by buffers on the way`);
  t.ok(grownMib < MAY_GROW_MIB, `the daemon grew by ${grownMib.toFixed(1)} MiB`);
});

t.test('one that ignores the reply and the close is torn off; so are twenty at once', async t => {
  const box = await startBox(t, { env: { POSTERN_SMTP_MAX_MESSAGE_BYTES: String(2 * 2 ** 20) } });
  const agent = await createAgent(box);
  await warmUp(box, agent);
  const descriptors = openDescriptors(box.pid);
  const growth = watchGrowth(box.pid);
  const one = await flood(box, agent.address, true);
  t.ok(one.sent < 64 * 2 ** 20, `alone: ${one.sent} bytes`);
  const many = await Promise.all(
    Array.from({ length: 20 }, (_, n) => flood(box, agent.address, n % 2 === 0)),
  );
  const grownMib = growth.stop();
  t.ok(
    many.every(({ sent }) => sent < 64 * 2 ** 20),
    `twenty: at most ${Math.max(...many.map(({ sent }) => sent))} bytes each`,
  );
  t.same(
    many.filter((_, n) => n % 2 === 1).map(({ code }) => code),
    Array(10).fill(552),
  );
  t.ok(grownMib < MAY_GROW_MIB, `the daemon grew by ${grownMib.toFixed(1)} MiB`);
  await deliver(box, agent.address, writeLetter());
  while (openDescriptors(box.pid) > descriptors) await delay(20);
  t.same(await box.stop(), { code: 0, signal: null });
});

t.test('a client that asks and asks and never reads a reply', async t => {
  const box = await startBox(t, { env: { POSTERN_SMTP_IDLE_TIMEOUT_S: '2' } });
  await warmUp(box, await createAgent(box));
  const descriptors = openDescriptors(box.pid);
  const sockets = Array.from({ length: 2 }, () => net.connect(box.smtpPort, '127.0.0.1').pause());
  const growth = watchGrowth(box.pid);
  t.teardown(() => growth.stop());
  const noops = Buffer.from('NOOP\r\n'.repeat(50_000));
  for (const socket of sockets) {
    socket.on('error', () => {});
    for (let n = 0; n < 50; n++) socket.write(noops);
  }
  while (openDescriptors(box.pid) < descriptors + sockets.length) await delay(5);
  // A client that does not read is not told either: what counts is that the daemon lets go.
  while (openDescriptors(box.pid) > descriptors) await delay(20);
  for (const socket of sockets) socket.destroy();
  const grownMib = growth.stop();
  t.ok(grownMib < MAY_GROW_MIB, `the daemon grew by ${grownMib.toFixed(1)} MiB`);
});
