import t from 'tap';
import type { AccountId } from '../../src/domain/ids.js';
import { NO_FILTER } from '../../src/domain/message-filter.js';
import { CursorCodec } from '../../src/domain/paging.js';
import { getMeta } from '../../src/store/engine/meta.js';
import { MIGRATIONS } from '../../src/store/open-store.js';
import { verifyStore } from '../../src/store/verify/verify-store.js';
import { restoreMessage } from '../../src/usecases/mailbox/change-messages.js';
import { listMessages } from '../../src/usecases/mailbox/list-messages.js';
import { listThreads } from '../../src/usecases/threads/list-threads.js';
import { getThreadDetail } from '../../src/usecases/threads/read-thread.js';
import { dataDirectory, withStore } from '../unit/store/with-store.js';
import { matchAll } from '../unit/usecases/threads/with-threads.js';
import { ALL_MAIL } from '../unit/usecases/with-house.js';
import * as old from './make-schema-2.js';

t.test('mail that was there joins its conversations', async t => {
  const path = dataDirectory(t);
  await old.makeSchema2(path);
  const store = await withStore(t, { path });
  t.equal(
    store.read(reader => getMeta(reader, 'schema')),
    MIGRATIONS.length,
  );
  const { faults, checked } = verifyStore(store);
  t.same(faults, []);
  t.match(checked, { messages: 6, in_trash: 1, threads: 2 });

  const accountId = old.ACCOUNT as AccountId;
  const deps = { store, cursors: new CursorCodec('c2VjcmV0'), clock: () => old.RECEIVED_AT + 1_000 };
  const list = { accountId, inboxId: old.INBOX, order: 'newest', limit: 10, cursor: null } as const;
  const { threads } = await listThreads(deps, { ...list, filter: NO_FILTER });
  matchAll(t, threads, [
    { message_count: 3, latest_message: { id: old.PARENT } },
    { message_count: 1, latest_message: { id: old.ALONE } },
  ]);
  const threadId = threads[0]!.id;
  const { summaries } = listMessages(deps, { ...list, ...ALL_MAIL });
  const shown = summaries.map(
    line => JSON.parse(line.toString()) as { id: string; thread_id: string | null },
  );
  t.strictSame(
    shown.map(({ id, thread_id }) => [id, thread_id]),
    [
      [old.PARENT, threadId],
      [old.LONG, threadId],
      [old.PENDING, null],
      [old.ALONE, threads[1]!.id],
      [old.REPLY, threadId],
    ],
  );
  const restored = await restoreMessage(deps, { accountId, messageId: old.TRASHED, kind: 'received' });
  t.match(restored, { status: 'restored', thread_id: threadId });
  const detail = getThreadDetail(deps, { accountId, threadId, limit: 10, cursor: null });
  const parts: Uint8Array[] = [];
  for await (const part of detail.bytes) parts.push(part);
  const { messages } = JSON.parse(Buffer.concat(parts).toString());
  t.strictSame(
    messages.map(({ id, content }: { id: string; content: { text: string } }) => [id, content.text.length]),
    [
      [old.REPLY, 2],
      [old.TRASHED, 2],
      [old.LONG, old.LONG_TEXT.length],
      [old.PARENT, 2],
    ],
  );
  t.same(verifyStore(store).faults, []);
});
