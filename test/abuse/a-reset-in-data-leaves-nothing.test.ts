import { randomInt } from 'node:crypto';
import t from 'tap';
import { createAgent } from '../support/box/agents.js';
import { startBox } from '../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../support/box/store-facts.js';
import { writeLetter } from '../support/letters/letters.js';
import { deliver, SENDER } from '../support/smtp/deliver.js';
import { SmtpClient } from '../support/smtp/smtp-client.js';

const CLIENTS = 60;

t.test('clients that reset or drop their connection in DATA leave nothing behind', async t => {
  const box = await startBox(t, { env: { POSTERN_SMTP_MAX_CLIENTS_PER_ADDRESS: '100' } });
  const agent = await createAgent(box);
  const body = writeLetter({ bytes: 3_000_000 }).raw;
  const breakOff = async (index: number): Promise<void> => {
    const client = await SmtpClient.ready(box.smtpPort);
    await client.openData(SENDER, [agent.address]);
    await client.write(body.subarray(0, randomInt(body.length)));
    if (index % 3 === 0) client.destroy();
    else client.reset();
    await client.closed();
  };
  // Twenty at a time, so that the kernel's buffers stay small on a small machine.
  for (let from = 0; from < CLIENTS; from += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, index) => breakOff(from + index)));
  }
  const id = await deliver(box, agent.address, writeLetter());
  await agent.api.finished(id);
  t.same(
    (await agent.api.all(agent.inboxId)).map(message => message.id),
    [id],
    'only what was sent to its end is there',
  );
  const facts = await untilFacts(box, found => isAtRest(found) && found.chunks === 1);
  t.same(facts.faults, [], 'and not one chunk of the rest');
});
