import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import type { PosternBox } from '../../support/box/postern-box.js';
import { openStore, readFacts, type StoreFacts } from '../../support/box/store-facts.js';
import { postSend, type Receipt, submission } from '../../support/sending/sending.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';
import { onceThat, say } from '../../support/smarthost/smarthost-script.js';

const MESSAGES = 160;

t.test('messages on their way when the daemon is stopped in order: all go out, each once', async t => {
  let open = (): void => {};
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  const { box, smarthost } = await startSmarthostBox(
    t,
    {
      POSTERN_LIMITS_SENDS: '100000',
      POSTERN_RELAY_RESPONSE_TIMEOUT_S: '1',
      POSTERN_RELAY_SMARTHOST_MAX_CONNECTIONS: '30',
    },
    // Slow enough that they are everywhere: in Redis, about to start, waiting for a connection or for the verdict.
    {
      dot: () =>
        onceThat(
          opened.then(() => delay(10)),
          say('250 2.0.0 OK'),
        ),
    },
  );
  const agent = await createAgent(box);
  const answers = await Promise.all(
    Array.from({ length: MESSAGES }, (_, n) => postSend(agent, submission(`n${n}@remote.example`))),
  );
  const ids = answers.map(answer => answer.json<Receipt>().message.id);
  open();
  await smarthost.until(() => smarthost.submissions.length >= 30);
  t.same(await box.stop(), { code: 0, signal: null });
  const stopped = await lookAt(box);
  t.ok(
    stopped.sent.some(({ attempt }) => attempt === 'reserved'),
    'some never started',
  );
  t.notOk(
    stopped.sent.some(({ attempt }) => attempt === 'started'),
    'what was started was brought to its end',
  );

  await box.start();
  let facts = await lookAt(box);
  while (facts.sent.some(({ attempt }) => attempt !== 'settled')) {
    await delay(50);
    facts = await lookAt(box);
  }
  t.same(
    facts.sent.filter(({ status }) => status !== 'accepted').map(({ status, detail }) => [status, detail]),
    [],
    'none is rejected or unknown because of the stop',
  );
  const seen = smarthost.submissions.map(
    ({ content }) => /^Message-ID: <([^@]+)@/im.exec(content.toString('latin1'))?.[1],
  );
  t.same(seen.sort(), ids.sort(), 'each went out once');
  t.same(facts.faults, []);
  t.match(await box.cliJson('verify'), { sound: true }, 'the store is sound');
});

async function lookAt(box: PosternBox): Promise<StoreFacts> {
  const store = openStore(box);
  const facts = readFacts(store);
  await store.close();
  return facts;
}
