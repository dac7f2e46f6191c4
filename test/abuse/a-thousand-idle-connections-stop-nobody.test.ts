import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent } from '../support/box/agents.js';
import { startBox } from '../support/box/postern-box.js';
import { writeLetter } from '../support/letters/letters.js';
import { SmtpClient } from '../support/smtp/smtp-client.js';
import { openDescriptors, privateMib } from './process-facts.js';
import { warmUp } from './warm-up.js';

t.test('a sender who comes behind a thousand silent clients delivers', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  await warmUp(box, agent);
  const descriptors = openDescriptors(box.pid);
  const memoryMib = privateMib(box.pid);
  const idle: SmtpClient[] = [];
  for (let network = 2; network < 22; network++) {
    const localAddress = `127.0.0.${network}`;
    idle.push(
      ...(await Promise.all(
        Array.from({ length: 50 }, () => SmtpClient.connect(box.smtpPort, '127.0.0.1', { localAddress })),
      )),
    );
  }
  await Promise.all(idle.map(client => client.expect(220)));
  t.ok(
    privateMib(box.pid) - memoryMib < 64,
    `a thousand cost ${(privateMib(box.pid) - memoryMib).toFixed(1)} MiB`,
  );

  // They have just come: for the first seconds a sender is asked to come again, as it does by itself.
  let isIn = false;
  let isDelivered = false;
  while (!isIn) {
    const client = await SmtpClient.connect(box.smtpPort);
    isIn = (await client.expect(220, 421)).code === 220;
    if (!isIn) {
      await delay(250);
      continue;
    }
    await client.command('EHLO client.example', 250);
    const { raw } = writeLetter();
    isDelivered = (await client.sendMail('a@b.example', [agent.address], raw)).code === 250;
    await client.close();
  }
  t.ok(isDelivered);
  t.equal(idle.filter(client => client.isClosed).length, 1, 'one of them had to go');
  for (const client of idle) client.destroy();
  while (openDescriptors(box.pid) > descriptors) await delay(20);
  t.same(await box.stop(), { code: 0, signal: null });
});
