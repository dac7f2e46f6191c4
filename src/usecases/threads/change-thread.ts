import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LabelChange } from '../../contract/labels.js';
import type { DeletedThread, ThreadLabelResult } from '../../contract/threads.js';
import type { InboxId, MessageId, ThreadId } from '../../domain/ids.js';
import { applyLabelChange, normaliseLabelChange } from '../../domain/labels.js';
import { SetCopy } from '../../store/bitmap/sets.js';
import type { Purpose } from '../../store/engine/room.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import { type Folder, idField, type MessageKind } from '../../store/mailbox/folders.js';
import type { MessageRecord } from '../../store/mailbox/messages.js';
import { termKey } from '../../store/mailbox/postings.js';
import { getInbox } from '../../store/records/inboxes.js';
import {
  compareMembers,
  foldersOf,
  type Member,
  readMember,
  threadTerm,
} from '../../store/threads/members.js';
import { memberCount, sentCount, type ThreadRecord } from '../../store/threads/threads.js';
import { applyChange, moveToTrash } from '../mailbox/change-messages.js';
import { getMessageOf } from '../mailbox/message-access.js';
import type { Clock } from '../ports.js';
import { checkPermitted } from '../shared/callers.js';
import { type LocatedThread, locateThread, type ThreadInput } from './read-thread.js';

/** Up to this many members are changed in one unit of work, which takes some milliseconds. */
const WHOLE = 50;
/** Members of a larger conversation that one unit of work changes. */
const MEMBERS_PER_UNIT = 25;

/** What is done to each member, whatever its kind. */
type Change = (writer: Writer, message: MessageRecord) => void;

/**
 * Changes every current member of a conversation. Up to fifty members are one unit of work. More are changed in
 * batches, oldest first, with other work in between: a reader may see some changed and others not yet. If the process
 * ends half-way, repeating the request changes the rest. Members that join meanwhile stay as they are.
 * @param chosen the members, where they have been looked at before
 */
async function changeMembers(
  store: Store,
  purpose: Purpose,
  begin: (writer: Writer) => LocatedThread,
  change: Change,
  chosen?: ThreadSelection,
): Promise<ThreadRecord> {
  const first = await store.write(writer => {
    const { root, thread } = begin(writer);
    const selection = chosen ?? new ThreadSelection(writer, thread.inboxId, root);
    const limit = memberCount(thread) <= WHOLE ? WHOLE : MEMBERS_PER_UNIT;
    return { thread, selection, hasMore: changeSome(writer, selection, limit, change) };
  }, purpose);
  const { thread, selection } = first;
  for (let { hasMore } = first; hasMore; ) {
    hasMore = await store.write(
      // With its inbox the conversation is gone.
      writer =>
        getInbox(writer, thread.inboxId) !== undefined &&
        changeSome(writer, selection, MEMBERS_PER_UNIT, change),
      purpose,
    );
  }
  return thread;
}

/**
 * Looks at every current member before the first is changed, some in a turn of the event loop.
 * @returns the conversation as it was, and those members, to be changed
 * @throws what `check` throws
 */
async function checkMembers(
  store: Store,
  begin: (reader: Reader) => LocatedThread,
  check: (message: MessageRecord) => unknown,
): Promise<{ readonly thread: ThreadRecord; readonly checked: ThreadSelection }> {
  const { thread, selection, checked } = store.read(reader => {
    const { root, thread } = begin(reader);
    const select = () => new ThreadSelection(reader, thread.inboxId, root);
    return { thread, selection: select(), checked: select() };
  });
  while (!selection.isDone) {
    store.read(reader => {
      for (const { kind, id } of selection.take(reader, MEMBERS_PER_UNIT)) {
        const message = getMessageOf(reader, kind, id);
        if (message !== undefined) check(message);
      }
    });
    await nextTurn();
  }
  return { thread, checked };
}

/** False when all are changed. */
function changeSome(writer: Writer, selection: ThreadSelection, limit: number, change: Change): boolean {
  const members = selection.take(writer, limit);
  for (const { kind, id } of members) {
    const message = getMessageOf(writer, kind, id);
    if (message !== undefined && message.trash === null) change(writer, message);
  }
  return !selection.isDone;
}

/** Adds and removes labels of all current members; those that come later do not inherit them. */
export async function changeThreadLabels(
  deps: { readonly store: Store },
  input: ThreadInput & LabelChange,
): Promise<ThreadLabelResult> {
  const change = normaliseLabelChange(input.add_labels, input.remove_labels);
  const { thread, checked } = await checkMembers(
    deps.store,
    reader => locateThread(reader, input),
    ({ labels }) => applyLabelChange(labels, change),
  );
  await changeMembers(
    deps.store,
    'add',
    writer => locateThread(writer, input),
    (writer, message) => void applyChange(writer, message, change),
    checked,
  );
  return {
    ...countsOf(thread),
    add_labels: change.add,
    remove_labels: change.remove,
  };
}

/**
 * Moves all current members to Trash at one instant (`deleteThread`). When the first member is restored the
 * conversation is shown again, under the same id.
 */
export async function deleteThread(
  deps: { readonly store: Store; readonly clock: Clock; readonly retentionDays: number },
  input: ThreadInput,
): Promise<DeletedThread> {
  const nowMs = deps.clock();
  const deleted = await changeMembers(
    deps.store,
    'settle',
    writer => {
      const located = locateThread(writer, input);
      checkPermitted(writer, input, 'delete');
      return located;
    },
    (writer, message) => void moveToTrash(writer, deps, message, nowMs),
  );
  return {
    ...countsOf(deleted),
    status: 'deletion_pending',
    message: `Its messages are in Trash and can be restored for ${deps.retentionDays} days.`,
  };
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

/**
 * A snapshot of the members of a conversation, to be worked through in batches: messages that join later are not in it.
 * Keeps the blocks of its sets, 8 KiB for 65,408 messages at most.
 */
class ThreadSelection {
  readonly #walks: readonly Walk[];

  constructor(reader: Reader, inboxId: InboxId, root: ThreadId) {
    this.#walks = foldersOf(inboxId).map(folder => new Walk(reader, folder, root));
  }

  /** All members have been taken. */
  get isDone(): boolean {
    return this.#walks.every(walk => walk.isDone);
  }

  /**
   * The next members that are still live, in order, at most `limit`; fewer when many have gone, since one call looks at
   * a bounded number.
   */
  take(reader: Reader, limit: number): { readonly kind: MessageKind; readonly id: MessageId }[] {
    const taken: { kind: MessageKind; id: MessageId }[] = [];
    for (let looks = 0; looks < MAX_LOOKS && taken.length < limit && !this.isDone; looks++) {
      const next = this.#next(reader);
      if (next === null) continue;
      const id = idField<MessageId>(next.summary, 'id');
      if (id !== null) taken.push({ kind: next.kind, id });
    }
    return taken;
  }

  /** The next member; null when it has gone since the snapshot. */
  #next(reader: Reader): Member | null {
    let first: { readonly walk: Walk; readonly member: Member } | null = null;
    for (const walk of this.#walks) {
      if (walk.isDone) continue;
      const member = walk.peek(reader);
      if (member === null) return null;
      if (first === null || compareMembers(member, first.member) < 0) first = { walk, member };
    }
    first?.walk.step();
    return first?.member ?? null;
  }
}

/** Members that one unit of work looks at, including those that have gone. */
const MAX_LOOKS = 500;

/** The members of one kind in order. */
class Walk {
  readonly #folder: Folder;
  readonly #members: SetCopy;
  #seqs: number[] = [];
  #member: Member | null = null;

  constructor(reader: Reader, folder: Folder, root: ThreadId) {
    this.#folder = folder;
    this.#members = new SetCopy(reader, termKey(folder, threadTerm(root)));
  }

  get isDone(): boolean {
    return this.#member === null && this.#seqs.length === 0 && this.#members.isDone;
  }

  /** The current member; null when it has gone and was skipped. */
  peek(reader: Reader): Member | null {
    if (this.#member === null) {
      // The next one is taken from the end.
      if (this.#seqs.length === 0) this.#seqs = this.#members.takeBlock().reverse();
      const seq = this.#seqs.pop() ?? 0;
      this.#member = readMember(reader, { ...this.#folder, seq })[0] ?? null;
    }
    return this.#member;
  }

  step(): void {
    this.#member = null;
  }
}
