import t from 'tap';
import { getMessage } from '../../../../src/store/mailbox/messages.js';
import { blobChunksTable, CHUNK_BYTES } from '../../../../src/store/records/blobs.js';
import { readPart } from '../../../../src/usecases/mailbox/read-file.js';
import { openRawMessage } from '../../../../src/usecases/mailbox/read-message.js';
import { refusal } from '../events/with-events.js';
import { withHouse } from '../with-house.js';

t.test('what stands before it is not read', async t => {
  const house = await withHouse(t);
  const raw = Buffer.alloc(3 * CHUNK_BYTES + 10, 'Subject: x\r\n\r\nabcdefghi');
  const id = await house.receive(raw, await house.addInbox('agent'));
  const open = () => openRawMessage(house, { accountId: house.account, messageId: id });
  for (const [offset, most] of [
    [0, 10],
    [0, raw.length],
    [CHUNK_BYTES - 1, 3],
    [CHUNK_BYTES, CHUNK_BYTES],
    [raw.length - 5, 100],
    [raw.length, 100],
  ] as const) {
    const { bytes, next } = await readPart(open(), offset, most);
    const end = Math.min(raw.length, offset + most);
    t.ok(bytes.equals(raw.subarray(offset, end)), `${most} bytes from ${offset}`);
    t.equal(next, end < raw.length ? end : null);
  }
  await house.store.write(writer => {
    const message = getMessage(writer, id);
    if (message?.kind !== 'received') throw new Error('the message is not there');
    writer.remove(blobChunksTable, { id: message.raw.id, index: 1 });
  });
  const { bytes } = await readPart(open(), 2 * CHUNK_BYTES, 100);
  t.ok(bytes.equals(raw.subarray(2 * CHUNK_BYTES, 2 * CHUNK_BYTES + 100)));
  t.equal(await refusal(() => readPart(open(), CHUNK_BYTES, 10)), 'content_unavailable', 'damage is told');
});
