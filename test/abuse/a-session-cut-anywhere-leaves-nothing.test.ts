import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import type { Test } from 'tap';
import t from 'tap';
import { stuff } from '../support/smtp/smtp-client.js';
import { certificate } from '../unit/smtp/tls/test-certificate.js';
import { HOUSE_ADDRESS, type House, openHouse } from './house.js';

const body = 'Subject: cut\r\n\r\none\r\n..two\r\n';
const transaction = `MAIL FROM:<a@b.example>\r\nRCPT TO:<${HOUSE_ADDRESS}>\r\nDATA\r\n`;
const session = Buffer.from(`EHLO c.example\r\n${transaction}${body}.\r\n${transaction}${body}.\r\nQUIT\r\n`);
const large = Buffer.concat([
  Buffer.from(`EHLO c.example\r\n${transaction}`),
  stuff(`Subject: large\r\n\r\n${`${'y'.repeat(70)}\r\n`.repeat(5000)}`),
]);

type Cut = (socket: net.Socket) => void;
const fin: Cut = socket => socket.end();
const vanish: Cut = socket => socket.destroy();
const rst: Cut = socket => socket.resetAndDestroy();

/** Sends the first bytes of a session, then the cut; resolves when the connection is gone. */
async function play(port: number, bytes: Buffer, cut: Cut): Promise<void> {
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {}).resume();
  const closed = new Promise(resolve => socket.once('close', resolve));
  await once(socket, 'connect');
  if (bytes.length > 0) await new Promise(resolve => socket.write(bytes, resolve));
  cut(socket);
  await closed;
}

async function playTls(port: number, bytes: Buffer): Promise<void> {
  const socket = net.connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'data');
  socket.write('STARTTLS\r\n');
  await once(socket, 'data');
  const secure = tls.connect({ socket, rejectUnauthorized: false });
  secure.on('error', () => {});
  await once(secure, 'secureConnect');
  const closed = new Promise(resolve => secure.once('close', resolve));
  await new Promise(resolve => secure.write(bytes, resolve));
  socket.destroy();
  await closed;
}

async function inParallel(jobs: (() => Promise<void>)[]): Promise<void> {
  const next = async () => {
    for (let job = jobs.pop(); job !== undefined; job = jobs.pop()) await job();
  };
  await Promise.all(Array.from({ length: 20 }, next));
}

async function leavesNothing(t: Test, { listener, facts }: House): Promise<void> {
  while (listener.stats().connections > 0) await new Promise(setImmediate);
  // Verdicts of clients that have gone are still counted.
  const { messages, uploads, chunks, faults } = await facts();
  t.same(faults, []);
  t.equal(uploads, 0, 'no upload record');
  t.equal(listener.stats().acceptedMessages, messages.length, 'one record for each acceptance');
  t.equal(
    chunks,
    messages.reduce((sum, { raw }) => sum + Math.max(1, Math.ceil(raw.size / 65_536)), 0),
    'no bytes besides',
  );
}

for (const [name, cut] of [
  ['FIN', fin],
  ['close', vanish],
  ['RST', rst],
] as const) {
  t.test(`${name} after every byte of a session`, async t => {
    const house = await openHouse(t, { maxClientsPerAddress: 1000 });
    const cuts = Array.from({ length: session.length + 1 }, (_, at) => at);
    await inParallel(cuts.map(at => () => play(house.port, session.subarray(0, at), cut)));
    await leavesNothing(t, house);
    const { acceptedMessages, connectionsTotal } = house.listener.stats();
    t.ok(connectionsTotal > 0);
    if (cut !== fin) return;
    const ends = [session.indexOf('\r\n.\r\n') + 5, session.lastIndexOf('\r\n.\r\n') + 5];
    const whole = cuts.reduce((sum, at) => sum + ends.filter(end => at >= end).length, 0);
    t.equal(acceptedMessages, whole, 'and every message that was whole is there');
  });

  t.test(`${name} at many points of a long message`, async t => {
    const house = await openHouse(t, { maxClientsPerAddress: 1000 });
    const points = Array.from({ length: 60 }, (_, n) => Math.round((large.length * (n + 1)) / 60));
    await inParallel(points.map(at => () => play(house.port, large.subarray(0, at), cut)));
    await leavesNothing(t, house);
    if (cut === fin) t.equal(house.listener.stats().acceptedMessages, 1);
  });
}

t.test('the same over TLS', async t => {
  const house = await openHouse(t, { maxClientsPerAddress: 1000, tls: certificate });
  const points = Array.from({ length: Math.ceil(session.length / 3) }, (_, n) => n * 3 + 1);
  await inParallel(points.map(at => () => playTls(house.port, session.subarray(0, at))));
  await leavesNothing(t, house);
});
