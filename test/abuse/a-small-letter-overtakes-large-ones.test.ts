import t from 'tap';
import { BlobUploads } from '../../src/store/records/blob-upload.js';
import { createInboundMail } from '../../src/usecases/inbound/accept-message.js';
import { createAgent, type TestAgent } from '../support/box/agents.js';
import { DOMAIN, PosternBox } from '../support/box/postern-box.js';
import { isAtRest, openStore, readFacts, type StoreFacts, untilFacts } from '../support/box/store-facts.js';
import { writeLetter } from '../support/letters/letters.js';
import { deliver, SENDER } from '../support/smtp/deliver.js';

const LARGE_BYTES = 20_000_000;
const LARGE = 3;
const WAITING = 1_500;

t.test('letters of 20 MB wait for the only thread: a small one is ready before them', async t => {
  const box = PosternBox.create(t, { env: { POSTERN_PARSE_WORKERS: '1' } });
  await box.start();
  const [victim, flooded] = [await createAgent(box, 'victim'), await createAgent(box, 'flooded')];
  const { raw } = writeLetter({ bytes: LARGE_BYTES });
  const large = await Promise.all(Array.from({ length: LARGE }, () => deliver(box, flooded.address, raw)));
  const startedAt = performance.now();
  const small = await deliver(box, victim.address, writeLetter());
  t.equal((await victim.api.finished(small)).processing_status, 'ready');
  t.comment(`the small letter took ${Math.round(performance.now() - startedAt)} ms`);
  const waiting = await unfinished(flooded, large);
  t.ok(waiting > 1, `${waiting} of ${LARGE} large ones are not finished yet`);
  t.equal((await box.api().get('/readyz')).status, 200);

  // One of the same inbox overtakes them too.
  const own = await deliver(box, flooded.address, writeLetter());
  t.equal((await flooded.api.finished(own)).processing_status, 'ready');
  t.ok((await unfinished(flooded, large)) > 0);

  for (const id of large) t.equal((await flooded.api.finished(id)).processing_status, 'ready');
  t.comment(`all ${LARGE} large ones took ${Math.round(performance.now() - startedAt)} ms`);
});

t.test('fifteen hundred letters to one inbox wait: the first of another is ready before them', async t => {
  const box = PosternBox.create(t, { env: { POSTERN_PARSE_WORKERS: '1' } });
  await box.start();
  const [victim, flooded] = [await createAgent(box, 'victim'), await createAgent(box, 'flooded')];
  await box.stop();
  await leaveWaiting(box, flooded);
  await box.start();
  const first = await deliver(box, victim.address, writeLetter());
  t.equal((await victim.api.finished(first)).processing_status, 'ready');
  const waiting = (await readOnce(box)).pending.parse;
  t.ok(waiting > WAITING / 3, `${waiting} of the others wait still`);
  t.same((await untilFacts(box, isAtRest)).faults, []);
});

/** What a process that ended has left: letters that were accepted and not parsed. */
async function leaveWaiting(box: PosternBox, { address }: TestAgent): Promise<void> {
  const store = openStore(box);
  const inbound = createInboundMail({
    store,
    uploads: new BlobUploads(store),
    clock: Date.now,
    queue: { offer: () => {} },
    mail: { domains: [DOMAIN], postmasterInbox: null },
    limits: { storageMib: 2048 },
  });
  const recipient = inbound.resolveRecipient(address);
  if (recipient === null) throw new Error('the inbox is not there');
  const envelope = {
    from: SENDER,
    recipients: [recipient],
    clientAddress: '192.0.2.1',
    helo: 'client.example',
  };
  await Promise.all(
    Array.from({ length: WAITING }, async () => {
      const body = inbound.begin();
      body.write(writeLetter().raw);
      await body.commit(envelope);
    }),
  );
  await store.close();
}

async function readOnce(box: PosternBox): Promise<StoreFacts> {
  const store = openStore(box);
  try {
    return readFacts(store);
  } finally {
    await store.close();
  }
}

async function unfinished({ api }: TestAgent, ids: readonly string[]): Promise<number> {
  const all = await Promise.all(ids.map(id => api.detail(id)));
  return all.filter(({ processing_status: status }) => status !== 'ready' && status !== 'failed').length;
}
