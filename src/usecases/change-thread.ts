import { ok, type Result } from '../domain/errors.js';
import { normaliseLabelChange } from '../domain/labels.js';
import { getInbox } from '../store/inboxes.js';
import type { IndexedMessage } from '../store/mailbox-index.js';
import type { Writer } from '../store/reader-writer.js';
import type { Store } from '../store/store.js';
import { memberCount, sentCount, type ThreadRecord } from '../store/threads.js';
import { applyChange, type LabelInput } from './change-labels.js';
import { type MessageAccess, receivedMessages, sentMessages } from './message-access.js';
import { isPermitted } from './permissions.js';
import type { Clock } from './ports.js';
import { type OwnedThread, ownedThread, type ThreadInput } from './read-thread.js';
import { ThreadSelection } from './thread-selection.js';
import { moveToTrash } from './trash-message.js';

/** A conversation of so many changes as a whole, in one unit of work: some milliseconds. */
const WHOLE = 50;
/** So many at a time of a larger one. */
const MEMBERS_PER_UNIT = 25;

/** What is done to each member, whatever its kind. */
type Change = <Message extends IndexedMessage>(
  writer: Writer,
  access: MessageAccess<Message>,
  message: Message,
) => void;

/**
 * Changes every member that a conversation has now. Up to fifty are one unit of work. More are changed some at
 * a time, the oldest first, and the loop goes on between: who reads meanwhile sees some changed and others
 * not yet, and what an end of the process leaves unchanged is changed by repeating the request. Members that
 * join meanwhile are left as they are.
 */
async function changeMembers(
  store: Store,
  begin: (writer: Writer) => Result<OwnedThread>,
  change: Change,
): Promise<Result<ThreadRecord>> {
  const first = await store.write(writer => {
    const owned = begin(writer);
    if (!owned.ok) return owned;
    const { root, thread } = owned.value;
    const selection = new ThreadSelection(writer, thread.inboxId, root);
    const limit = memberCount(thread) <= WHOLE ? WHOLE : MEMBERS_PER_UNIT;
    return ok({ thread, selection, hasMore: changeSome(writer, selection, limit, change) });
  });
  if (!first.ok) return first;
  const { thread, selection } = first.value;
  for (let { hasMore } = first.value; hasMore; ) {
    hasMore = await store.write(
      // With its inbox the conversation is gone.
      writer =>
        getInbox(writer, thread.inboxId) !== undefined &&
        changeSome(writer, selection, MEMBERS_PER_UNIT, change),
    );
  }
  return ok(thread);
}

/** False when all are changed. */
function changeSome(writer: Writer, selection: ThreadSelection, limit: number, change: Change): boolean {
  const members = selection.take(writer, limit);
  for (const { kind, id } of members) {
    if (kind === 'received') changeOne(writer, receivedMessages, id, change);
    else changeOne(writer, sentMessages, id, change);
  }
  return !selection.isDone;
}

function changeOne<Message extends IndexedMessage>(
  writer: Writer,
  access: MessageAccess<Message>,
  id: string,
  change: Change,
): void {
  const message = access.get(writer, id);
  if (message !== undefined && message.trash === null) change(writer, access, message);
}

/** Wire contract, `ThreadLabelResult`. */
export interface ThreadLabelResult {
  readonly id: string;
  readonly inbox_id: string;
  readonly message_count: number;
  readonly received_count: number;
  readonly sent_count: number;
  readonly add_labels: readonly string[];
  readonly remove_labels: readonly string[];
}

/** Adds and removes labels of all current members; those that come later do not inherit them. */
export async function changeThreadLabels(
  deps: { readonly store: Store },
  input: ThreadInput & LabelInput,
): Promise<Result<ThreadLabelResult>> {
  const change = normaliseLabelChange(input.addLabels, input.removeLabels);
  if (!change.ok) return change;
  const changed = await changeMembers(
    deps.store,
    writer => ownedThread(writer, input),
    (writer, access, message) => void applyChange(writer, access, message, change.value),
  );
  if (!changed.ok) return changed;
  return ok({
    ...countsOf(changed.value),
    add_labels: change.value.add,
    remove_labels: change.value.remove,
  });
}

/** Wire contract, `DeletedThread`. */
export interface DeletedThread {
  readonly id: string;
  readonly inbox_id: string;
  readonly message_count: number;
  readonly received_count: number;
  readonly sent_count: number;
  readonly status: 'deletion_pending';
  readonly message: string;
}

/**
 * Moves all current members to Trash, as of one instant (decisions, Trash). The conversation is there again,
 * under the same id, with the first member that is restored.
 */
export async function deleteThread(
  deps: { readonly store: Store; readonly clock: Clock; readonly retentionDays: number },
  input: ThreadInput,
): Promise<Result<DeletedThread>> {
  const nowMs = deps.clock();
  const deleted = await changeMembers(
    deps.store,
    writer => {
      const owned = ownedThread(writer, input);
      if (!owned.ok) return owned;
      const permitted = isPermitted(writer, input.accountId, 'delete');
      return permitted.ok ? owned : permitted;
    },
    (writer, access, message) => void moveToTrash(writer, { ...deps, access }, message, nowMs),
  );
  if (!deleted.ok) return deleted;
  return ok({
    ...countsOf(deleted.value),
    status: 'deletion_pending',
    message: `Its messages are in Trash and can be restored for ${deps.retentionDays} days.`,
  });
}

function countsOf(thread: ThreadRecord) {
  return {
    id: thread.shown,
    inbox_id: thread.inboxId,
    message_count: memberCount(thread),
    received_count: thread.counts.received,
    sent_count: sentCount(thread.counts),
  };
}
