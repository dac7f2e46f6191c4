import t from 'tap';
import { createAgent } from '../support/box/agents.js';
import { startBox } from '../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../support/box/store-facts.js';
import { acceptedId, writeLetter } from '../support/letters/letters.js';
import { deliver, SENDER } from '../support/smtp/deliver.js';
import { SmtpClient } from '../support/smtp/smtp-client.js';

const LIMIT = 1_000_000;
const MEGABYTE = Buffer.from(`${'z'.repeat(998)}\r\n`.repeat(1_000));
/** Of what a client goes on to send, so much may be on its way: buffers of the kernel, the linger of ours. */
const ON_ITS_WAY = 32_000_000;

t.test('a message over the limit is refused, not read to its end, and leaves nothing', async t => {
  const box = await startBox(t, { env: { POSTERN_SMTP_MAX_MESSAGE_BYTES: String(LIMIT) } });
  const agent = await createAgent(box);

  const honest = await SmtpClient.ready(box.smtpPort);
  const declared = await honest.command(`MAIL FROM:<${SENDER}> SIZE=${LIMIT + 1}`);
  t.same([declared.code, declared.enhanced], [552, '5.3.4'], 'a declared size over the limit');
  await honest.command(`MAIL FROM:<${SENDER}> SIZE=${LIMIT}`, 250);
  await honest.close();

  const flooder = await SmtpClient.ready(box.smtpPort);
  await flooder.openData(SENDER, [agent.address], ' SIZE=1000');
  let sentMb = 0;
  while (!flooder.isClosed && sentMb < 500) {
    await flooder.write(MEGABYTE);
    sentMb += 1;
  }
  t.equal((await flooder.reply())?.code, 552, 'the flooder can read why');
  await flooder.closed();
  t.ok(flooder.socket.bytesWritten < LIMIT + ON_ITS_WAY, `${flooder.socket.bytesWritten} bytes went out`);

  const exact = await SmtpClient.ready(box.smtpPort);
  const fitting = MEGABYTE.subarray(0, LIMIT);
  const id = acceptedId(await exact.sendMail(SENDER, [agent.address], fitting));
  t.ok((await agent.api.raw(id)).equals(fitting), 'a message of exactly the limit goes in');
  t.equal(
    (await exact.sendMail(SENDER, [agent.address], Buffer.concat([fitting, Buffer.from('\r\n')]))).code,
    552,
  );
  await exact.closed();

  await agent.api.delete(`/v1/messages/${id}`);
  await agent.api.delete(`/v1/messages/${await deliver(box, agent.address, writeLetter())}`);
  const facts = await untilFacts(box, isAtRest);
  t.same([facts.chunks, facts.faults], [0, []], 'no chunk is left');
});
