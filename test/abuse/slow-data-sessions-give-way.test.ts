import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import t from 'tap';
import { SmtpClient } from '../support/smtp/smtp-client.js';
import { HOUSE_ADDRESS, type House, openHouse } from './house.js';

const LONG_MS = 3_600_000;
const LETTER = 'Subject: ordinary\r\n\r\nHello.\r\n';

interface SlowSender {
  readonly client: SmtpClient;
}

function isGone({ client }: SlowSender): boolean {
  return client.isClosed || client.unread > 0;
}

/** A client in the middle of a message; null if it was refused, for which it must have read 421 4.3.2. */
async function openSlow(t: Test, { port }: House, localAddress: string): Promise<SlowSender | null> {
  const client = await SmtpClient.connect(port, '127.0.0.1', { localAddress });
  const greeting = await client.expect(220, 421);
  if (greeting.code === 421) {
    t.equal(greeting.enhanced, '4.3.2');
    client.destroy();
    return null;
  }
  await client.command('EHLO client.example', 250);
  await client.openData('slow@client.example', [HOUSE_ADDRESS]);
  await client.write('Subject: slow\r\n\r\n');
  return { client };
}

async function openAll(t: Test, house: House, addresses: readonly string[]): Promise<SlowSender[]> {
  const slow: SlowSender[] = [];
  for (let at = 0; at < addresses.length; at += 50) {
    const opened = await Promise.all(
      addresses.slice(at, at + 50).map(address => openSlow(t, house, address)),
    );
    slow.push(...opened.filter(sender => sender !== null));
  }
  return slow;
}

/** The reply to a letter, or to the connection if that is refused. */
async function deliver({ port }: House, localAddress: string): Promise<number> {
  const client = await SmtpClient.connect(port, '127.0.0.1', { localAddress });
  const { code } = await client.expect(220, 421);
  if (code === 421) return code;
  await client.command('EHLO client.example', 250);
  const reply = await client.sendMail('a@client.example', [HOUSE_ADDRESS], LETTER);
  await client.close();
  return reply.code;
}

/** `each` clients from each of the addresses 127.0.0.2, 127.0.0.3, and so on. */
function crowd(addresses: number, each: number): string[] {
  return Array.from({ length: addresses * each }, (_, n) => `127.0.0.${2 + (n % addresses)}`);
}

t.test('a thousand of a few addresses do not keep out those who have none', async t => {
  const house = await openHouse(t, { keepPlaceInDataMs: LONG_MS, keepPlaceMs: LONG_MS });
  const slow = await openAll(t, house, crowd(20, 50));
  t.equal(slow.length, 1000);
  for (let n = 1; n <= 100; n++) t.equal(await deliver(house, `127.0.1.${n}`), 250);
  t.equal(
    slow.filter(isGone).length,
    1,
    'one of the places that were lent is enough for all of them, in turn',
  );
  t.equal((await slow.find(isGone)?.client.expect(421))?.enhanced, '4.3.2');
  const others: SmtpClient[] = [];
  for (let n = 1; n <= 60; n++) {
    const client = await SmtpClient.connect(house.port, '127.0.0.1', { localAddress: `127.0.2.${n}` });
    others.push(client);
    t.equal((await client.expect(220, 421)).code, n <= 50 ? 220 : 421, `${n} at the same time`);
  }
  t.equal(slow.filter(isGone).length, 50, 'no place that was not lent');
  for (const client of [...others, ...slow.map(sender => sender.client)]) client.destroy();
});

t.test('if even those are taken, the slowest gives way, and leaves nothing behind', async t => {
  const house = await openHouse(t, { maxClients: 100, keepPlaceInDataMs: 2000, keepPlaceMs: LONG_MS });
  const slow = await openAll(t, house, crowd(100, 1));
  t.equal(slow.length, 100);
  t.equal(await deliver(house, '127.0.1.1'), 421, 'they have just come: all keep their places');

  const [slowest, quick] = [slow[42], slow[7]];
  const steady = setInterval(() => {
    for (const sender of slow) {
      if (sender === quick) void sender.client.write(`${'x'.repeat(900)}\r\n`);
      else if (sender !== slowest) void sender.client.write('x'.repeat(95));
    }
  }, 100);
  t.teardown(() => clearInterval(steady));
  // Only time makes them slow.
  await delay(2500);
  t.equal(await deliver(house, '127.0.1.1'), 250);
  const gone = slow.flatMap((sender, n) => (isGone(sender) ? [n] : []));
  t.same(gone, [42], 'the one that sent least, and no other');
  t.equal((await slowest?.client.expect(421))?.enhanced, '4.3.2');

  const others = await openAll(
    t,
    house,
    Array.from({ length: 60 }, (_, n) => `127.0.2.${n + 1}`),
  );
  t.equal(others.length, 60, 'each at the cost of a slow one');
  clearInterval(steady);
  await quick?.client.write('\r\n.\r\n');
  t.equal((await quick?.client.reply())?.code, 250, 'and the quick one keeps its place');
  for (const { client } of [...slow, ...others]) client.destroy();
  while (house.listener.stats().connections > 0) await new Promise(setImmediate);
  const facts = await house.facts();
  t.equal(facts.messages.length, 2);
  t.equal(facts.uploads, 0);
  t.same(facts.faults, []);
});

t.test('time in which our process does something else is not held against a sender', async t => {
  const house = await openHouse(t, { maxClients: 1, keepPlaceInDataMs: 2000, keepPlaceMs: LONG_MS });
  const sender = await openSlow(t, house, '127.0.0.2');
  const untilMs = performance.now() + 2500;
  while (performance.now() < untilMs);
  t.equal(await deliver(house, '127.0.1.1'), 421);
  await sender?.client.write('.\r\n');
  t.equal((await sender?.client.reply())?.code, 250);
});
