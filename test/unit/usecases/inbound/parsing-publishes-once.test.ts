import t from 'tap';
import { resultOf } from '../../../../src/domain/errors.js';
import { blobChunksTable, CHUNK_BYTES, chunkCount, readBlob } from '../../../../src/store/records/blobs.js';
import { storedBytes } from '../../../../src/store/records/storage.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { reparseMessage } from '../../../../src/usecases/inbound/index-message.js';
import { deleteMessage } from '../../../../src/usecases/mailbox/change-messages.js';
import { getMessageDetail, openAttachment } from '../../../../src/usecases/mailbox/read-message.js';
import { type ByteStream, contentUnavailable } from '../../../../src/usecases/shared/contents.js';
import { countChunks, countUploads, pattern } from '../../store/with-blobs.js';
import { withHouse } from '../with-house.js';
import { attachCopy, attached, gaveUp, index, parsed, prepared } from '../with-parser.js';

t.test('content, attachments and the word ready come together', async t => {
  const house = await withHouse(t);
  const file = pattern(200_000);
  const body = Buffer.concat([Buffer.from('head'), file, Buffer.from('small')]);
  const id = await house.receive(body, await house.addInbox('agent'));
  let during = '';
  house.now.ms += 500;
  const outcome = await index(house, id, async source => {
    const raw: Uint8Array[] = [];
    for await (const chunk of source) raw.push(chunk);
    t.ok(Buffer.concat(raw).equals(body));
    during = house.message(id)?.status ?? '';
    t.strictSame(house.message(id)?.attachments, []);
    const big = attached('a1', 'big.bin', file, 4);
    const small = attached('a2', null, Buffer.from('small'), 200_004);
    return { status: 'parsed', prepared: prepared({}, [big, small]) };
  });
  t.strictSame(outcome, { status: 'done' });
  t.equal(during, 'processing');
  t.match(house.message(id), {
    status: 'ready',
    tries: 1,
    subject: 'Hello',
    parseDueAt: null,
    processedAt: house.now.ms,
  });
  t.strictSame(house.pending(), []);
  t.equal(countUploads(house.store), 0);
  t.equal(
    countChunks(house.store),
    chunkCount(body.length) + 1,
    'the raw bytes and the content, nothing twice',
  );
  const input = { accountId: house.account, messageId: id };
  const big = openAttachment(house, { ...input, attachmentId: 'a1' });
  t.match(big, { size: 200_000, filename: 'big.bin' });
  t.ok((await bytesOf(big)).equals(file));
  const small = openAttachment(house, { ...input, attachmentId: 'a2' });
  t.match(small, { size: 5, filename: null });
  t.equal((await bytesOf(small)).toString(), 'small');
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
  const whole = await bytesOf(detail);
  t.equal(whole.length, detail.size);
  t.equal(JSON.parse(whole.toString()).content.text, text);
});

t.test('whoever publishes first wins, and the other leaves nothing', async t => {
  const house = await withHouse(t);
  const id = await house.receive('raw', await house.addInbox('agent'));
  const both = [1, 2].map(n => index(house, id, parsed({ text: `x${n}`.repeat(3 * CHUNK_BYTES) })));
  await Promise.all(both);
  t.strictSame(
    await index(house, id, gaveUp('error')),
    { status: 'done' },
    'a later call finds nothing to do',
  );
  t.equal(house.message(id)?.status, 'ready');
  // What the other has written is given up in a unit of its own.
  await house.store.write(() => undefined);
  await house.sweepAll();
  const owned = house.message(id)!;
  let chunks = 0;
  for (const blob of [owned.raw, owned.content!]) {
    for await (const _ of readBlob(house.store, blob)) chunks++;
  }
  t.equal(countChunks(house.store), chunks);
});

t.test('a message deleted while it is parsed stays deleted, with all that was prepared', async t => {
  for (const end of ['parsed', 'gave_up'] as const) {
    const house = await withHouse(t);
    const id = await house.receive(pattern(500_000), await house.addInbox('agent'));
    const outcome = await index(house, id, async source => {
      await deleteMessage(house, { accountId: house.account, messageId: id, kind: 'received' });
      await house.sweepAll();
      const parse = end === 'parsed' ? parsed({ text: 'x'.repeat(3 * CHUNK_BYTES) }) : gaveUp('error');
      return parse(source);
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
  const broken = index(house, id, async () => {
    throw new Error('the source broke');
  });
  await t.rejects(broken, /the source broke/);
  await house.store.write(() => undefined);
  await house.sweepAll();
  t.equal(countChunks(house.store), 1, 'the raw bytes');
  t.equal(countUploads(house.store), 0);
  t.strictSame(house.pending(), [id]);
});

t.test('parsed again, a message that had copies of its attachments has them no more', async t => {
  const house = await withHouse(t);
  const file = pattern(200_000);
  const id = await house.receive(file, await house.addInbox('agent'));
  await index(house, id, parsed());
  await attachCopy(house, id, 'copy.bin', file);
  const input = { accountId: house.account, messageId: id, attachmentId: 'a1' };
  const stored = (): number => house.store.read(reader => storedBytes(reader, house.account));
  const withCopy = stored();
  const copy = openAttachment(house, input);
  t.match(copy, { size: 200_000, filename: 'copy.bin' });
  t.ok((await bytesOf(copy)).equals(file), 'a copy is read as before');
  await reparseMessage(house, id);
  await index(house, id, async () => ({
    status: 'parsed',
    prepared: prepared({}, [attached('a1', 'copy.bin', file)]),
  }));
  await house.sweepAll();
  t.ok((await bytesOf(openAttachment(house, input))).equals(file));
  t.equal(countChunks(house.store), chunkCount(file.length) + 1);
  t.equal(withCopy - stored(), file.length, 'and its account stores less');
  t.same(verifyStore(house.store).faults, []);
});

t.test('bytes that are not those that were received are not given as if they were', async t => {
  const house = await withHouse(t);
  for (const size of [5, 200_000]) {
    const file = pattern(size);
    const id = await house.receive(Buffer.from(file), await house.addInbox(`agent${size}`));
    await index(house, id, async () => ({
      status: 'parsed',
      prepared: prepared({}, [attached('a1', 'file.bin', file)]),
    }));
    const open = () =>
      bytesOf(openAttachment(house, { accountId: house.account, messageId: id, attachmentId: 'a1' }));
    const at = { id: house.message(id)!.raw.id, index: chunkCount(size) - 1 };
    const last = Buffer.from(house.store.read(reader => reader.get(blobChunksTable, at))!);
    last[last.length - 1]! ^= 1;
    await house.store.write(writer => writer.put(blobChunksTable, at, last));
    await t.rejects(open(), contentUnavailable(), `${size} bytes, one changed`);
    await house.store.write(writer => writer.remove(blobChunksTable, at));
    await t.rejects(open(), contentUnavailable(), `${size} bytes, a chunk lost`);
  }
});

async function bytesOf({ bytes }: ByteStream): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  return Buffer.concat(parts);
}
