import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent } from '../support/box/agents.js';
import type { ApiAnswer } from '../support/box/api-client.js';
import { postSend, quota, type Receipt, submission } from '../support/sending/sending.js';
import { startSmarthostBox } from '../support/smarthost/smarthost-box.js';
import { drop, onceThat } from '../support/smarthost/smarthost-script.js';

const SENDS = 60;
const FILE_BYTES = 3_600_000;
/** A heap that cannot hold the half of what they bring. */
const HEAP_MIB = Math.floor((SENDS * FILE_BYTES) / 2 ** 20 / 2);

t.test('sixty large messages wait for a smarthost that is silent: the daemon keeps none of them', async t => {
  let open = (): void => {};
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  const { box, smarthost } = await startSmarthostBox(
    t,
    { POSTERN_LIMITS_SENDS: '1000', POSTERN_RELAY_RESPONSE_TIMEOUT_S: '300' },
    { dot: onceThat(opened, drop) },
    { nodeArguments: [`--max-old-space-size=${HEAP_MIB}`] },
  );
  const agent = await createAgent(box);
  // A client holds so many connections only.
  const apis = Array.from({ length: 3 }, () => box.api(agent.credential));
  const file = {
    filename: 'a.bin',
    type: 'a/b',
    content: Buffer.alloc(FILE_BYTES, 7).toString('base64'),
  };
  const answers: Promise<ApiAnswer>[] = [];
  for (let n = 1; n <= SENDS; n++) {
    const api = apis[n % apis.length] ?? agent.api;
    answers.push(postSend({ ...agent, api }, submission('ann@remote.example', { attachments: [file] })));
    // One after the other: it is not reading them that is looked at.
    while ((await quota(agent.api)).used < n) await delay(20);
  }
  t.equal((await quota(agent.api)).used, SENDS, 'all are reserved, and the daemon lives');
  await smarthost.stop();
  open();
  const receipts = (await Promise.all(answers)).map(answer => answer.json<Receipt>());
  const outcomes = new Set(receipts.map(({ message }) => message.status));
  t.ok(outcomes.has('unknown'), 'those whose final dot had come');
  t.ok(outcomes.has('rejected'), 'those that waited for a connection');
  t.equal(outcomes.size, 2);
  t.same(await box.stop(), { code: 0, signal: null });
});
