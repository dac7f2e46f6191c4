import t from 'tap';
import { createAgent, type TestAgent } from '../support/box/agents.js';
import { postSend, type Receipt, send, submission } from '../support/sending/sending.js';
import { startSmarthostBox } from '../support/smarthost/smarthost-box.js';
import { onceThat, say } from '../support/smarthost/smarthost-script.js';

const CONNECTIONS = 2;
/** More than can be in flight to the smarthost at once. */
const SENDS = 40;

t.test('forty sends hang in the smarthost: mail between inboxes of the box goes on', async t => {
  let open = (): void => {};
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  t.teardown(() => open());
  const { box, smarthost } = await startSmarthostBox(
    t,
    {
      POSTERN_LIMITS_SENDS: '1000',
      POSTERN_RELAY_SMARTHOST_MAX_CONNECTIONS: `${CONNECTIONS}`,
      POSTERN_RELAY_RESPONSE_TIMEOUT_S: '20',
    },
    { dot: onceThat(opened, say('250 2.0.0 Taken')) },
  );
  const ann = await createAgent(box, 'ann');
  const bob = await createAgent(box, 'bob');
  const hanging = Array.from({ length: SENDS }, (_, n) =>
    // A client holds so many connections only.
    postSend({ ...ann, api: box.api(ann.credential) }, submission(`remote-${n}@remote.example`)),
  );
  // One to both: it waits with those for the smarthost, and nobody here has it yet.
  const both = postSend(
    { ...bob, api: box.api(bob.credential) },
    submission('remote@remote.example', { cc: [{ address: bob.address }] }),
  );
  await smarthost.until(() => smarthost.submissions.length === CONNECTIONS);

  const startedAt = performance.now();
  for (const [from, to] of [
    [ann, bob],
    [bob, ann],
    [ann, ann],
  ] as const) {
    t.match(await send(from, submission(to.address)), { message: { status: 'accepted' } });
  }
  t.comment(`three local sends took ${Math.round(performance.now() - startedAt)} ms`);
  t.equal(smarthost.submissions.length, CONNECTIONS, 'the smarthost hangs all the while');
  t.equal(await received(bob), 1, 'that to both has not arrived here either');

  open();
  const receipts = (await Promise.all([...hanging, both])).map(answer => answer.json<Receipt>());
  t.same(new Set(receipts.map(({ message }) => message.status)), new Set(['accepted']));
  t.equal(await received(bob), 2);
});

async function received({ api, inboxId }: TestAgent): Promise<number> {
  return (await api.page(inboxId)).messages.length;
}
