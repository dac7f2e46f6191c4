import t from 'tap';
import { resultOf } from '../../../../src/domain/errors.js';
import { CHUNK_BYTES, readBlob } from '../../../../src/store/records/blobs.js';
import { deleteMessage } from '../../../../src/usecases/mailbox/change-messages.js';
import { getMessageDetail, openAttachment } from '../../../../src/usecases/mailbox/read-message.js';
import { countChunks, countUploads, pattern, readAll } from '../../store/with-blobs.js';
import { withHouse } from '../with-house.js';
import { attach, gaveUp, index, parsed, prepared } from '../with-parser.js';

t.test('content, attachments and the word ready come together', async t => {
  const house = await withHouse(t);
  const id = await house.receive('raw bytes', await house.addInbox('agent'));
  const file = pattern(200_000);
  let during = '';
  house.now.ms += 500;
  const outcome = await index(house, id, async (source, sink) => {
    const raw: Uint8Array[] = [];
    for await (const chunk of source) raw.push(chunk);
    t.equal(Buffer.concat(raw).toString(), 'raw bytes');
    await attach(sink, 'a1', file);
    await attach(sink, 'a2', Buffer.from('small'));
    during = house.message(id)?.status ?? '';
    t.strictSame(house.message(id)?.attachments, []);
    return { status: 'parsed', prepared: prepared({}, ['big.bin', null]) };
  });
  t.strictSame(outcome, { status: 'done' });
  t.equal(during, 'processing');
  const record = house.message(id)!;
  t.match(record, {
    status: 'ready',
    tries: 1,
    subject: 'Hello',
    parseDueAt: null,
    processedAt: house.now.ms,
  });
  t.strictSame(house.pending(), []);
  t.equal(countUploads(house.store), 0);
  t.ok((await readAll(house.store, record.attachments[0]!.blob)).equals(file));
  const input = { accountId: house.account, messageId: id };
  t.match(
    resultOf(() => openAttachment(house, { ...input, attachmentId: 'a1' })),
    {
      value: { size: 200_000, filename: 'big.bin' },
    },
  );
  t.match(
    resultOf(() => openAttachment(house, { ...input, attachmentId: 'a2' })),
    { value: { size: 5, filename: null } },
  );
  t.match(
    resultOf(() => openAttachment(house, { ...input, attachmentId: 'a3' })),
    { failure: { code: 'not_found' } },
  );
});

t.test('content over one chunk is kept as a blob and reads back the same', async t => {
  const house = await withHouse(t);
  const id = await house.receive('raw', await house.addInbox('agent'));
  const text = 'é'.repeat(3 * CHUNK_BYTES);
  await index(house, id, parsed({ text }));
  t.ok((house.message(id)?.content?.size ?? 0) > CHUNK_BYTES);
  const detail = getMessageDetail(house, { accountId: house.account, messageId: id });
  const bytes: Uint8Array[] = [];
  for await (const part of detail.bytes) bytes.push(part);
  const whole = Buffer.concat(bytes);
  t.equal(whole.length, detail.size);
  t.equal(JSON.parse(whole.toString()).content.text, text);
});

t.test('whoever publishes first wins, and the other leaves nothing', async t => {
  const house = await withHouse(t);
  const id = await house.receive('raw', await house.addInbox('agent'));
  const both = [1, 2].map(n =>
    index(house, id, async (_source, sink) => {
      await attach(sink, `of${n}`, pattern(150_000));
      return { status: 'parsed', prepared: prepared({ text: `x${n}`.repeat(CHUNK_BYTES) }) };
    }),
  );
  await Promise.all(both);
  t.equal(house.message(id)?.attachments.length, 1);
  t.strictSame(
    await index(house, id, gaveUp('error')),
    { status: 'done' },
    'a later call finds nothing to do',
  );
  t.equal(house.message(id)?.status, 'ready');
  await house.sweepAll();
  const owned = house.message(id)!;
  let chunks = 0;
  for (const blob of [owned.raw, owned.attachments[0]!.blob, owned.content!]) {
    for await (const _ of readBlob(house.store, blob)) chunks++;
  }
  t.equal(countChunks(house.store), chunks);
});

t.test('a message deleted while it is parsed stays deleted, with all that was uploaded', async t => {
  for (const end of ['parsed', 'gave_up'] as const) {
    const house = await withHouse(t);
    const id = await house.receive(pattern(500_000), await house.addInbox('agent'));
    const outcome = await index(house, id, async (_source, sink) => {
      await attach(sink, 'a1', pattern(300_000));
      await deleteMessage(house, { accountId: house.account, messageId: id, kind: 'received' });
      await house.sweepAll();
      await attach(sink, 'a2', pattern(300_000));
      return end === 'parsed'
        ? { status: 'parsed', prepared: prepared() }
        : gaveUp('error')(undefined as never, sink);
    });
    t.strictSame(outcome, { status: 'done' });
    t.equal(house.message(id), undefined);
    await house.store.write(() => undefined);
    await house.sweepAll();
    t.equal(countChunks(house.store), 0);
    t.strictSame(house.pending(), []);
  }
});

t.test('a parser that breaks its promise leaves no bytes behind, and the message is still due', async t => {
  const house = await withHouse(t);
  const id = await house.receive('raw', await house.addInbox('agent'));
  const broken = index(house, id, async (_source, sink) => {
    await attach(sink, 'a1', pattern(300_000));
    throw new Error('the source broke');
  });
  await t.rejects(broken, /the source broke/);
  await house.store.write(() => undefined);
  await house.sweepAll();
  t.equal(countChunks(house.store), 1, 'the raw bytes');
  t.equal(countUploads(house.store), 0);
  t.strictSame(house.pending(), [id]);
});
