import type { InboxId, ThreadId } from '../domain/ids.js';
import type { IndexedMessage } from '../store/mailbox-index.js';
import type { Reader } from '../store/reader-writer.js';
import { idField, replaceIdField } from '../store/summary-fields.js';
import { canonicalThread, hasMergedThreads } from '../store/thread-names.js';

/**
 * The thread id that agents see of a message is the canonical one at the time of reading. A record and its
 * line in lists keep the one from when the message joined: a merge of large conversations would otherwise
 * have to write all of their messages. Most inboxes have no merged conversation, and nothing to resolve.
 */

/** A message with the thread id that is shown of it now. */
export function withShownThread<Message extends IndexedMessage>(reader: Reader, message: Message): Message {
  const { inboxId, threadId } = message;
  if (threadId === null || !hasMergedThreads(reader, inboxId)) return message;
  const shown = canonicalThread(reader, threadId);
  return shown === threadId ? message : { ...message, threadId: shown };
}

/** The same for lines of lists, which are changed in place. */
export function showThreads(reader: Reader, inboxId: InboxId, summaries: readonly Buffer[]): void {
  if (!hasMergedThreads(reader, inboxId)) return;
  for (const summary of summaries) {
    const threadId = idField<ThreadId>(summary, 'thread_id');
    if (threadId === null) continue;
    const shown = canonicalThread(reader, threadId);
    if (shown !== threadId) replaceIdField(summary, 'thread_id', shown);
  }
}
