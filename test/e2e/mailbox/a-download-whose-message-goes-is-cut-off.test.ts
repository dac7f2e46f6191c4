import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../../support/box/store-facts.js';
import { writeLetter } from '../../support/letters/letters.js';
import { deliver } from '../../support/smtp/deliver.js';

t.test('a download whose message is deleted meanwhile ends early, never with other bytes', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const letter = writeLetter({ bytes: 24_000_000 });
  const id = await deliver(box, agent.address, letter);
  await agent.api.finished(id);

  const request = get({
    port: box.httpPort,
    path: `/v1/messages/${id}/raw`,
    headers: { authorization: `Bearer ${agent.credential}` },
  });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  t.equal(response.statusCode, 200);
  // Nothing is read yet: the rest waits behind the buffers of the sockets.
  t.equal((await agent.api.delete(`/v1/messages/${id}`)).status, 202);
  t.equal((await untilFacts(box, isAtRest)).chunks, 0, 'a slow reader does not keep the bytes in the store');

  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [error] = (await once(response, 'error')) as [NodeJS.ErrnoException];
  t.equal(error.code, 'ECONNRESET');
  const got = Buffer.concat(chunks);
  t.ok(got.length > 0 && got.length < letter.raw.length, `${got.length} of ${letter.raw.length} bytes`);
  t.ok(got.equals(letter.raw.subarray(0, got.length)), 'what came are its first bytes');
  t.equal((await agent.api.get('/v1/inboxes')).status, 200, 'the daemon serves on');
});
