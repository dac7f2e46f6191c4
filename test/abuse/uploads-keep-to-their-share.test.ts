import { connect } from 'node:net';
import t from 'tap';
import type { Upload } from '../../src/contract/uploads.js';
import { createAgent, type TestAgent } from '../support/box/agents.js';
import { type PosternBox, startBox } from '../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../support/box/store-facts.js';
import { createDraft } from '../support/sending/drafts.js';

const MIB = 2 ** 20;

t.test('however many an account sends at once, it has 64 MiB of them, and others go on', async t => {
  const box = await startBox(t);
  const greedy = await createAgent(box, 'greedy');
  const other = await createAgent(box, 'other');
  const post = (agent: TestAgent, bytes: number) =>
    agent.api.request('POST', '/v1/uploads', { body: Buffer.alloc(bytes) });
  const all = Array.from({ length: 20 }, () => post(greedy, 5 * MIB));
  t.equal((await post(other, 5 * MIB)).status, 201, 'beside them');
  await createDraft(other, { text: 'x'.repeat(1_000_000) });
  const answers = await Promise.all(all);
  const stored = answers.filter(({ status }) => status === 201);
  const refused = answers.filter(({ status }) => status !== 201);
  t.ok(stored.length <= 12, `${stored.length} stored`);
  // Whose turn has not come in time is told so; the others that the share is used up.
  t.ok(refused.every(({ status }) => status === 409 || status === 503));
  while (stored.length < 12) stored.push(await post(greedy, 5 * MIB));
  t.same([(await post(greedy, 5 * MIB)).code], ['storage_limit_reached']);
  const facts = await untilFacts(box, isAtRest);
  t.same(facts.faults, []);
  t.equal(facts.pending['expire-upload'], 13);
  const [first] = stored.map(answer => answer.json<Upload>().upload_id);
  t.equal((await greedy.api.delete(`/v1/uploads/${first}`)).status, 202);
  t.equal((await post(greedy, 5 * MIB)).status, 201, 'a deleted one makes room');
  t.match(await box.cliJson('verify'), { sound: true, uploads: 13 });
});

/** Announces five megabytes and sends a byte of them a second. */
function startSlow(t: Parameters<typeof startBox>[0], box: PosternBox, agent: TestAgent): Promise<string> {
  const socket = connect(box.httpPort, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    `POST /v1/uploads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${agent.credential}\r\nContent-Length: ${5 * MIB}\r\n\r\n`,
  );
  const timer = setInterval(() => void socket.write('x'), 1_000);
  t.teardown(() => {
    clearInterval(timer);
    socket.destroy();
  });
  let text = '';
  return new Promise(resolve => {
    socket.on('data', chunk => {
      text += chunk.toString('latin1');
    });
    socket.once('close', () => resolve(text));
  });
}

t.test('slow uploads of many accounts are cut off, and nobody waits for them longer', async t => {
  const box = await startBox(t);
  const other = await createAgent(box, 'other');
  const answers: Promise<string>[] = [];
  for (let n = 0; n < 6; n++) {
    const agent = await createAgent(box, `slow${n}`);
    for (let again = 0; again < 3; again++) answers.push(startSlow(t, box, agent));
  }
  const bytes = Buffer.alloc(5 * MIB);
  const answer = await other.api.request('POST', '/v1/uploads', { body: bytes });
  t.equal(answer.status, 201);
  const cut = (await Promise.all(answers)).map(text => text.slice(0, 12));
  t.ok(
    cut.every(status => status === 'HTTP/1.1 408'),
    `${new Set(cut).size} kinds of answers`,
  );
  const { faults } = await untilFacts(box, isAtRest);
  t.same(faults, []);
});
