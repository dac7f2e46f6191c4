import t from 'tap';
import type { AccountId, MessageId } from '../../src/domain/ids.js';
import { type MessageFilter, NO_FILTER } from '../../src/domain/message-filter.js';
import { CursorCodec } from '../../src/domain/paging.js';
import { getMeta } from '../../src/store/engine/meta.js';
import { MIGRATIONS } from '../../src/store/open-store.js';
import { listDue } from '../../src/store/records/pending.js';
import { listAccountKeys } from '../../src/usecases/accounts/api-keys.js';
import { resolveRecipient } from '../../src/usecases/inbound/recipients.js';
import { listInboxes } from '../../src/usecases/inboxes/inboxes.js';
import { deleteMessage } from '../../src/usecases/mailbox/change-messages.js';
import { countMessages } from '../../src/usecases/mailbox/count-messages.js';
import { listMessages } from '../../src/usecases/mailbox/list-messages.js';
import { getMessageDetail, openAttachment, openRawMessage } from '../../src/usecases/mailbox/read-message.js';
import { sweep } from '../../src/usecases/upkeep/sweep.js';
import { authenticate } from '../support/use-cases.js';
import { countChunks } from '../unit/store/with-blobs.js';
import { dataDirectory, withStore } from '../unit/store/with-store.js';
import { ALL_MAIL } from '../unit/usecases/with-house.js';
import * as old from './make-schema-1.js';

const text = async (bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>) => {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  return Buffer.concat(parts).toString();
};

t.test('everything in it is found where it was, and can be worked with', async t => {
  const path = dataDirectory(t);
  await old.makeSchema1(path);
  const store = await withStore(t, { path });
  const accountId = old.ACCOUNT as AccountId;
  t.equal(
    store.read(reader => getMeta(reader, 'schema')),
    MIGRATIONS.length,
  );

  t.equal(authenticate({ store }, old.CREDENTIAL)?.email, 'Owner@elsewhere.example');
  t.equal(listAccountKeys({ store }, 'owner@ELSEWHERE.example').length, 1);
  const { inboxes } = listInboxes({ store, limits: { inboxes: 2, sends: 25, storageMib: 2048 } }, accountId);
  t.match(inboxes, [{ id: old.INBOX, address: 'agent@example.org', name: 'Agent' }]);
  const find = (address: string) =>
    store.read(reader =>
      resolveRecipient(reader, { domains: ['example.org'], postmasterInbox: null }, address),
    );
  t.strictSame([find('agent@example.org'), find('gone@example.org')], [old.INBOX, null]);

  const cursors = new CursorCodec(store.read(reader => getMeta(reader, 'identity'))?.cursorSecret ?? '');
  const input = { ...ALL_MAIL, accountId, inboxId: old.INBOX };
  const page = listMessages({ store, cursors }, { ...input, limit: 10, cursor: null });
  t.strictSame(
    page.summaries.map(summary => JSON.parse(summary.toString()).id),
    [old.PENDING, old.READY],
  );
  t.equal(await countMessages({ store }, input), 2);
  const matching = async (filter: Partial<MessageFilter>) =>
    await countMessages({ store }, { ...input, filter: { ...NO_FILTER, ...filter } });
  t.equal(await matching({ from: 'ann@elsewhere.example' }), 1, 'senders are found');
  t.equal(await matching({ recipient: 'agent@example.org' }), 1, 'and recipients');
  const none = { all: [], any: [], none: ['x'] };
  t.equal(await matching({ labels: none }), 2, 'deleted ones are not counted');
  t.equal(await matching({ after: old.RECEIVED_AT, before: old.RECEIVED_AT + 1 }), 2);
  t.equal(await matching({ after: old.RECEIVED_AT + 1 }), 0);
  const ready = { accountId, messageId: old.READY };
  t.match(JSON.parse(await text(getMessageDetail({ store }, ready).bytes)), {
    processing_status: 'ready',
    content: { text: 'Hi' },
  });
  t.equal(await text(openRawMessage({ store }, ready).bytes), old.RAW_BYTES);
  const file = openAttachment({ store }, { ...ready, attachmentId: 'a1' });
  t.equal(file.filename, 'file.txt');
  t.equal(await text(file.bytes), old.FILE_BYTES);
  const due = store.read(reader => listDue(reader, 'parse', old.RECEIVED_AT, 10));
  t.strictSame(
    due.map(({ work }) => work.id),
    [old.PENDING as MessageId],
  );

  const deps = { store, clock: () => old.RECEIVED_AT + 2 * 86_400_000 };
  for (const messageId of [old.READY, old.PENDING])
    await deleteMessage(deps, { accountId, messageId, kind: 'received' });
  await sweep(deps, () => false);
  t.equal(countChunks(store), 0, 'shared bytes were counted right');
});
