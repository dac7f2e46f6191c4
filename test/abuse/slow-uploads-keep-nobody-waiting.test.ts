import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createAgent, type TestAgent } from '../support/box/agents.js';
import { type PosternBox, startBox } from '../support/box/postern-box.js';
import { createDraft } from '../support/sending/drafts.js';
import { askEveryMoment } from './asked-every-moment.js';

const LARGE = { text: 'x'.repeat(4_000_000) };

interface SlowUpload {
  readonly socket: Socket;
  readonly answer: Promise<string>;
  readonly isOver: () => boolean;
}

/** Announces eight megabytes and sends a byte of them a second. */
async function startSlowUpload(t: Test, box: PosternBox, agent: TestAgent): Promise<SlowUpload> {
  const socket = connect(box.httpPort, '127.0.0.1');
  socket.on('error', () => {});
  let text = '';
  let isOver = false;
  const answer = new Promise<string>(resolve => {
    socket.on('data', chunk => {
      text += chunk.toString('latin1');
    });
    socket.once('close', () => {
      isOver = true;
      resolve(text);
    });
  });
  socket.write(
    `POST /v1/inboxes/${agent.inboxId}/drafts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${agent.credential}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 8000000\r\n\r\n{"text":"',
  );
  const timer = setInterval(() => void socket.write('x'), 1_000);
  t.teardown(() => {
    clearInterval(timer);
    socket.destroy();
  });
  await delay(20);
  return { socket, answer, isOver: () => isOver };
}

t.test('eight of one account: the draft of another is saved while all of them go on', async t => {
  const box = await startBox(t);
  const slow = await createAgent(box, 'slow');
  const other = await createAgent(box, 'other');
  const uploads: SlowUpload[] = [];
  for (let n = 0; n < 8; n++) uploads.push(await startSlowUpload(t, box, slow));
  const asked = askEveryMoment(box.httpPort);
  const startMs = performance.now();
  await createDraft(other, LARGE);
  t.comment(`${Math.round(performance.now() - startMs)} ms, /healthz ${Math.round(await asked.stop())} ms`);
  t.notOk(
    uploads.some(({ isOver }) => isOver()),
    'none of them had to end for it',
  );
});

t.test('eight of four accounts: the slow ones are cut off, and then it is saved', async t => {
  const box = await startBox(t);
  const agents = [];
  for (let n = 0; n < 4; n++) agents.push(await createAgent(box, `slow${n}`));
  const other = await createAgent(box, 'other');
  const uploads: SlowUpload[] = [];
  for (let n = 0; n < 8; n++) uploads.push(await startSlowUpload(t, box, agents[n % 4]!));
  const startMs = performance.now();
  await createDraft(other, LARGE);
  t.comment(`${Math.round(performance.now() - startMs)} ms`);
  const answers = await Promise.all(uploads.map(({ answer }) => answer));
  t.ok(answers.every(answer => answer.startsWith('HTTP/1.1 408 ')));
});
