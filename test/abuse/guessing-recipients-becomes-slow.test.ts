import t from 'tap';
import { SmtpClient } from '../support/smtp/smtp-client.js';
import { HOUSE_ADDRESS, type House, openHouse } from './house.js';

/** Clients in MAIL of new connections from the same address. */
async function opened({ port }: House, localAddress: string): Promise<SmtpClient | null> {
  const client = await SmtpClient.connect(port, '127.0.0.1', { localAddress });
  if ((await client.expect(220, 421)).code === 421) return null;
  await client.command('EHLO client.example', 250);
  await client.command('MAIL FROM:<a@client.example>', 250);
  return client;
}

/** Guesses from new connections, `lanes` at a time, until `isOver`. Returns how many answers were read. */
async function guess(
  house: House,
  localAddress: string,
  lanes: number,
  isOver: () => boolean,
): Promise<number> {
  let answers = 0;
  let next = 0;
  const lane = async (): Promise<void> => {
    while (!isOver()) {
      const client = await opened(house, localAddress);
      if (client === null) return;
      next += 1;
      await client.line(`RCPT TO:<guess${next}@example.org>`);
      while (client.unread === 0 && !client.isClosed && !isOver()) await new Promise(r => setTimeout(r, 1));
      answers += client.unread;
      client.destroy();
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return answers;
}

async function deliver(house: House, localAddress: string): Promise<number> {
  const client = await opened(house, localAddress);
  if (client === null) return 421;
  await client.command('RSET', 250);
  const { code } = await client.sendMail('a@client.example', [HOUSE_ADDRESS], 'x\r\n');
  await client.close();
  return code;
}

/** Longer than any test: an answer delayed at all is not read. */
const NEVER_MS = 3_600_000;

t.test('new connections buy no new guesses, and known recipients are taken beside them', async t => {
  const house = await openHouse(t, { unknownRecipientDelayMs: NEVER_MS });
  let isOver = false;
  const answers = guess(house, '127.0.0.2', 40, () => isOver);
  while (house.listener.stats().refusals.unknown_recipient < 60) await new Promise(setImmediate);
  for (let n = 0; n < 20; n++) {
    t.equal(await deliver(house, '127.0.0.2'), 250, 'from the address of the guesser');
    t.equal(await deliver(house, '127.0.0.3'), 250, 'from another');
  }
  const stranger = await opened(house, '127.0.0.4');
  await stranger?.command('RCPT TO:<stale@example.org>', 550);
  isOver = true;
  t.ok((await answers) < 60, `${await answers} answers`);
  stranger?.destroy();
});

t.test('who does not wait for the answer is no faster', async t => {
  const house = await openHouse(t, { unknownRecipientDelayMs: NEVER_MS });
  let asked = 0;
  for (;;) {
    const client = await opened(house, '127.0.0.2');
    if (client === null) break;
    asked += 1;
    await client.line(`RCPT TO:<guess${asked}@example.org>`);
    while (house.listener.stats().refusals.unknown_recipient < asked) await new Promise(setImmediate);
    client.reset();
    while (house.listener.stats().connections > 0) await new Promise(setImmediate);
  }
  t.equal(asked, 20 + 50, 'twenty answers, then as many guesses as connections');
  t.equal(await deliver(house, '127.0.0.3'), 250);
});

t.test('accepted mail pays for stale addresses', async t => {
  const house = await openHouse(t, { unknownRecipientDelayMs: NEVER_MS });
  const untilMs = performance.now() + 2500;
  while (performance.now() < untilMs) t.equal(await deliver(house, '127.0.0.2'), 250);
  for (let n = 1; n <= 22; n++) {
    const client = await opened(house, '127.0.0.2');
    await client?.command(`RCPT TO:<stale${n}@example.org>`, 550);
    await client?.close();
  }
});
