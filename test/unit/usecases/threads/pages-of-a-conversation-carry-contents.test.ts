import t from 'tap';
import { resultOf } from '../../../../src/domain/errors.js';
import { blobChunksTable } from '../../../../src/store/records/blobs.js';
import { deleteMessage } from '../../../../src/usecases/mailbox/change-messages.js';
import { getThreadDetail } from '../../../../src/usecases/threads/read-thread.js';
import { withHouse } from '../with-house.js';
import { index, prepared } from '../with-parser.js';
import { putSent } from '../with-sent.js';
import { detailOf, letter, threadsOf } from './with-threads.js';

/** Kept beside the record and held in memory, beside it and read later, and in chunks. */
const TEXTS = ['short', 'é'.repeat(20_000), '"\\\n'.repeat(60_000)];

t.test('contents of every length come whole, received and sent', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  for (const [n, text] of TEXTS.entries()) {
    await letter(house, inbox, `${n}@x`, ['root@x'], { content: { text } });
    house.now.ms += 1;
    await putSent(house.store, inbox, house.now.ms, {
      references: ['root@x', `${n}@x`],
      text,
      html: `<p>${n}`,
    });
    house.now.ms += 1;
  }
  const withFile = await house.receive('raw', inbox);
  await index(house, withFile, async () => {
    const ids = { messageId: 'f@x', references: ['root@x'], inReplyTo: [] };
    const attachments = [{ id: 'f1', filename: 'file.bin', size: 10 }];
    return {
      status: 'parsed',
      prepared: prepared({ attachments }, [], { ids, messageId: '<f@x>' }),
    };
  });
  const [thread] = await threadsOf(house, inbox);
  const detail = await detailOf(house, thread!.id);
  const facts = detail.messages.map((message: { direction: string; content: object; submission: object }) =>
    message.direction === 'received' ? message.content : message.submission,
  );
  for (const [n, text] of TEXTS.entries()) {
    t.equal(facts[2 * n].text, text);
    t.match(facts[2 * n + 1], {
      from: { address: 'agent@example.org' },
      to: [{ address: 'Ann@X.example', name: 'Ann' }],
      cc: [],
      bcc: [],
      subject: 'Hello',
      text,
      html: `<p>${n}`,
      attachments: [],
      headers: { 'In-Reply-To': `<${n}@x>`, References: `<root@x> <${n}@x>` },
    });
  }
  t.match(facts.at(-1).attachments, [{ id: 'f1', filename: 'file.bin' }]);
  t.equal(detail.next_cursor, null);
});

t.test('a content that is missing is told before anything is sent', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const id = await letter(house, inbox, 'a@x');
  const threadId = (await threadsOf(house, inbox))[0]!.id;
  const content = house.message(id)!.content!;
  await house.store.write(writer => writer.remove(blobChunksTable, { id: content.id, index: 0 }));
  const input = { accountId: house.account, threadId, limit: 1, cursor: null };
  t.match(
    resultOf(() => getThreadDetail(house, input)),
    { ok: false, failure: { code: 'content_unavailable' } },
  );
});

t.test('one that is deleted and freed before its turn comes breaks the answer off', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  await letter(house, inbox, 'a@x', ['root@x'], { content: { text: TEXTS[2] } });
  const second = await letter(house, inbox, 'b@x', ['root@x'], { content: { text: TEXTS[1] } });
  const threadId = (await threadsOf(house, inbox))[0]!.id;
  const detail = getThreadDetail(house, { accountId: house.account, threadId, limit: 10, cursor: null });
  const parts = (detail.bytes as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  t.notOk((await parts.next()).done);
  await deleteMessage(house, { accountId: house.account, messageId: second, kind: 'received' });
  await house.sweepAll();
  await t.rejects(async () => {
    while (!(await parts.next()).done);
  }, /chunk 0 of blob .* is missing/);
});
