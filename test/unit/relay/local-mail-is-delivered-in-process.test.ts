import t from 'tap';
import type { Store } from '../../../src/store/engine/store.js';
import { type BlobRef, readBlob } from '../../../src/store/records/blobs.js';
import { RecordingInbound } from '../smtp/recording-inbound.js';
import { withHouse } from '../usecases/with-house.js';
import { attempt, CONTENT } from './smarthost/with-smarthost.js';
import { relayFor } from './with-relay.js';

async function bytesOf(store: Store, ref: BlobRef): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of readBlob(store, ref)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

t.test('a message to inboxes here is stored as if it had come by SMTP', async t => {
  const house = await withHouse(t);
  const agent = await house.addInbox('agent');
  const other = await house.addInbox('other');
  const { relay } = relayFor(t, house.inbound);
  const recipients = ['Agent+tag@EXAMPLE.org', 'other@example.org'];
  const outcome = await relay.submit(attempt({ from: 'sender@example.org', recipients }));
  t.match(outcome, { status: 'accepted', detail: /^delivered here: / });
  t.equal(house.offered.length, 2, 'offered to be parsed');
  t.same(house.pending().sort(), [...house.offered].sort());
  const [first, second] = house.offered.map(id => house.message(id)!);
  t.match(first, {
    inboxId: agent,
    status: 'pending',
    envelopeFrom: 'sender@example.org',
    envelopeTo: 'Agent+tag@EXAMPLE.org',
    clientAddress: 'local',
    helo: 'mx.example.org',
  });
  t.match(second, { inboxId: other, envelopeTo: 'other@example.org', raw: first!.raw });
  t.equal((await bytesOf(house.store, first!.raw)).toString(), CONTENT, 'byte for byte');
});

t.test('a long one too, in whole, and the bytes of the caller stay his', async t => {
  const house = await withHouse(t);
  await house.addInbox('agent');
  const { relay } = relayFor(t, house.inbound);
  const content = Buffer.from(`a: b\r\n\r\n${'0123456789'.repeat(7)}\r\n`.repeat(50_000));
  const given = Buffer.from(content);
  t.equal(
    (await relay.submit(attempt({ recipients: ['agent@example.org'], content: given }))).status,
    'accepted',
  );
  t.ok(given.equals(content));
  given.fill(0);
  const record = house.message(house.offered[0]!)!;
  t.ok((await bytesOf(house.store, record.raw)).equals(content));
});

t.test('a message without a last line end is kept as SMTP would have brought it', async t => {
  const inbound = new RecordingInbound();
  const { relay } = relayFor(t, inbound);
  t.equal(
    (await relay.submit(attempt({ recipients: ['agent@example.org'], content: 'a: b' }))).status,
    'accepted',
  );
  t.equal(inbound.messages[0]?.raw.toString(), 'a: b\r\n');
});

t.test('one unknown recipient refuses all', async t => {
  const house = await withHouse(t);
  await house.addInbox('agent');
  const { relay } = relayFor(t, house.inbound);
  const outcome = await relay.submit(attempt({ recipients: ['agent@example.org', 'nobody@example.net'] }));
  t.match(outcome, { status: 'rejected', errorCode: 'E_RECIPIENT_REJECTED' });
  t.same(house.pending(), []);
});

t.test('with the local transport others cannot be reached, and then nobody gets it', async t => {
  const inbound = new RecordingInbound();
  const { relay } = relayFor(t, inbound);
  for (const recipients of [['x@elsewhere.example'], ['agent@example.org', 'x@sub.example.org']]) {
    t.match(await relay.submit(attempt({ recipients })), {
      status: 'rejected',
      errorCode: 'E_RELAY_UNREACHABLE',
      detail: /relay\.transport is "local"/,
    });
  }
  t.same(inbound.asked, []);
  t.same(inbound.bodies, []);
});

t.test('the limit of the SMTP listener holds here too', async t => {
  const inbound = new RecordingInbound();
  const { relay } = relayFor(t, inbound, '[smtp]\nmax_message_bytes = 65536\n');
  const lines = 'x'.repeat(62);
  const send = (count: number) =>
    relay.submit(attempt({ recipients: ['agent@example.org'], content: `${lines}\r\n`.repeat(count) }));
  t.match(await send(1025), { status: 'rejected', errorCode: 'E_MESSAGE_TOO_LARGE' });
  t.match(await send(1024), { status: 'accepted' });
});

t.test('a full disk, before or at the end: nobody has it', async t => {
  const inbound = new RecordingInbound();
  const { relay } = relayFor(t, inbound);
  const toAgent = () => relay.submit(attempt({ recipients: ['agent@example.org'] }));
  inbound.isFull = true;
  t.match(await toAgent(), { status: 'rejected', errorCode: 'E_TEMPORARY_FAILURE' });
  inbound.isFull = false;
  inbound.commitWith = async () => ({ status: 'no_room' });
  t.match(await toAgent(), { status: 'rejected', errorCode: 'E_TEMPORARY_FAILURE' });
  inbound.commitWith = async () => ({ status: 'no_recipients' });
  t.match(await toAgent(), { status: 'rejected', errorCode: 'E_RECIPIENT_REJECTED' });
  t.same(inbound.messages, []);
});

t.test('a store that fails before the commit: rejected, and what was written is given up', async t => {
  for (const fault of ['failResolving', 'failBegin', 'failWriting'] as const) {
    const inbound = new RecordingInbound();
    inbound[fault] = true;
    const { relay } = relayFor(t, inbound);
    t.match(
      await relay.submit(attempt({ recipients: ['agent@example.org'] })),
      { status: 'rejected', errorCode: 'E_TEMPORARY_FAILURE', detail: /^the store failed before/ },
      fault,
    );
    for (const body of inbound.bodies) t.match(body, { commits: 0, aborts: 1 });
  }
  const inbound = new RecordingInbound();
  inbound.isSlow = true;
  inbound.failDraining = true;
  const { relay } = relayFor(t, inbound);
  t.match(await relay.submit(attempt({ recipients: ['agent@example.org'] })), { status: 'rejected' });
  t.match(inbound.bodies, [{ commits: 0, aborts: 1 }]);
});

t.test('a store that fails in the commit: unknown', async t => {
  const inbound = new RecordingInbound();
  inbound.commitWith = () => Promise.reject(new Error('EIO'));
  const { relay } = relayFor(t, inbound);
  t.match(await relay.submit(attempt({ recipients: ['agent@example.org'] })), {
    status: 'unknown',
    errorCode: 'acceptance_unknown',
    detail: /EIO/,
  });
});

t.test('the window of the store is respected', async t => {
  const inbound = new RecordingInbound();
  inbound.isSlow = true;
  const { relay } = relayFor(t, inbound);
  const content = `${'x'.repeat(62)}\r\n`.repeat(3000);
  const outcome = relay.submit(attempt({ recipients: ['agent@example.org'], content }));
  for (let block = 1; block <= 3; block += 1) {
    await inbound.waitFor('write');
    await new Promise(setImmediate);
    t.equal(inbound.bodies[0]?.writes, block, 'no further before it is drained');
    inbound.drain();
  }
  t.equal((await outcome).status, 'accepted');
});
