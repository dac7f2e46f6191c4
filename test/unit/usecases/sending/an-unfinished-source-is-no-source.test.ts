import t from 'tap';
import type { ReceivedContent } from '../../../../src/contract/messages.js';
import type { InboxId, MessageId } from '../../../../src/domain/ids.js';
import { getMessage, saveMessage } from '../../../../src/store/mailbox/messages.js';
import { blobChunksTable } from '../../../../src/store/records/blobs.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { createDraft } from '../../../../src/usecases/drafts/save-draft.js';
import { deleteMessage, trashMessage } from '../../../../src/usecases/mailbox/change-messages.js';
import { forwardMessage, replyMessage, sendMessage } from '../../../../src/usecases/sending/recipes.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { pattern } from '../../store/with-blobs.js';
import { Desk } from '../with-desk.js';
import { type House, withHouse } from '../with-house.js';
import { attached, gaveUp, index, type Parse, prepared } from '../with-parser.js';

const ZOE = { name: 'Zoe', address: 'zoe@far.example' };

const CONTENT: ReceivedContent = {
  from: ZOE,
  sender: null,
  reply_to: [],
  to: [],
  cc: [],
  bcc: [],
  subject: 'Hello',
  message_id: '<1@far.example>',
  in_reply_to: null,
  references: null,
  date: null,
  text: 'Hi',
  html: null,
  attachments: [
    {
      id: 'f1',
      filename: 'a.bin',
      size: 150_000,
      mime_type: 'application/octet-stream',
      disposition: 'attachment',
      content_id: null,
      related: false,
    },
  ],
};

/** A message that is nothing but its attachment. */
const RAW = pattern(150_000);

const parsedWhole: Parse = async () => {
  const json = Buffer.from(JSON.stringify(CONTENT));
  return { status: 'parsed', prepared: { ...prepared({}, [attached('f1', 'a.bin', RAW)]), json } };
};

/** What every way of using a message as a source says of it. */
async function ways(house: House, desk: Desk, inboxId: InboxId, messageId: MessageId) {
  const owner = { accountId: house.account, inboxId };
  const to = [{ address: 'far@far.example' }];
  const words = async (act: () => Promise<unknown>) => {
    const settled = await outcomeOf(act);
    return settled.ok ? 'done' : settled.failure.code;
  };
  return {
    send: await words(() =>
      sendMessage(desk.deps, { ...owner, to, subject: 's', text: 't', in_reply_to: messageId }),
    ),
    reply: await words(() =>
      replyMessage(desk.deps, 'reply', { ...owner, message_id: messageId, text: 'Yes' }),
    ),
    'reply-all': await words(() =>
      replyMessage(desk.deps, 'reply-all', { ...owner, message_id: messageId, text: 'Yes' }),
    ),
    forward: await words(() => forwardMessage(desk.deps, { ...owner, message_id: messageId, to })),
    'reply draft': await words(() =>
      createDraft(desk.deps, { ...owner, source: { action: 'reply', message_id: messageId } }),
    ),
    'forward draft': await words(() =>
      createDraft(desk.deps, { ...owner, source: { action: 'forward', message_id: messageId } }),
    ),
  };
}

const all = (code: string) => ({
  send: code,
  reply: code,
  'reply-all': code,
  forward: code,
  'reply draft': code,
  'forward draft': code,
});

t.test('a message is a source once it is ready, and not before', async t => {
  const house = await withHouse(t);
  const desk = new Desk(house);
  const inboxId = await house.addInbox('agent');
  const id = await house.receive(RAW, inboxId);
  t.same(await ways(house, desk, inboxId, id), all('reply_not_ready'), 'pending');
  await house.store.write(writer => {
    const record = getMessage(writer, id)!;
    const processing = { ...record, status: 'processing' as const };
    saveMessage(writer, record, processing);
  });
  t.same(await ways(house, desk, inboxId, id), all('reply_not_ready'), 'processing');
  await index(house, id, parsedWhole);
  t.same(await ways(house, desk, inboxId, id), all('done'), 'ready');
  const failed = await house.receive(RAW, inboxId);
  await index(house, failed, gaveUp('timeout'));
  t.same(await ways(house, desk, inboxId, failed), all('reply_not_ready'), 'failed');
  await trashMessage(house, { accountId: house.account, messageId: failed, kind: 'received' });
  t.same(await ways(house, desk, inboxId, failed), all('not_found'), 'failed and in Trash');
  t.equal(desk.relayed.length, 4);
  t.same(verifyStore(house.store).faults, []);
});

t.test('content that is missing is a matter of the store, unless its message is gone', async t => {
  const house = await withHouse(t);
  const desk = new Desk(house);
  const inboxId = await house.addInbox('agent');
  const id = await house.receive(RAW, inboxId);
  await index(house, id, parsedWhole);
  const { raw } = house.message(id)!;
  await house.store.write(writer => writer.remove(blobChunksTable, { id: raw.id, index: 1 }));
  t.match(await ways(house, desk, inboxId, id), {
    reply: 'done',
    'reply draft': 'done',
    forward: 'content_unavailable',
    'forward draft': 'content_unavailable',
  });
  const owner = { accountId: house.account, inboxId };
  const to = [{ address: 'far@far.example' }];
  const without = { ...owner, message_id: id, to, include_attachments: false };
  t.match(
    await outcomeOf(() => forwardMessage(desk.deps, without)),
    { ok: true },
    'what is there can be forwarded',
  );
  const content = house.message(id)!.content!;
  await house.store.write(writer => writer.remove(blobChunksTable, { id: content.id, index: 0 }));
  t.same(await ways(house, desk, inboxId, id), all('content_unavailable'));
  await deleteMessage(house, { accountId: house.account, messageId: id, kind: 'received' });
  t.same(await ways(house, desk, inboxId, id), all('not_found'));
});
