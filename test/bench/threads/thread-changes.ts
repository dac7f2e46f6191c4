import { scanTrash } from '../../../src/store/mailbox/index.js';
import { BlobUploads } from '../../../src/store/records/blob-upload.js';
import {
  canonicalThread,
  hashedMessageId,
  linkKey,
  threadLinksTable,
} from '../../../src/store/threads/names.js';
import { restoreMessage } from '../../../src/usecases/mailbox/change-messages.js';
import { changeThreadLabels, deleteThread } from '../../../src/usecases/threads/change-thread.js';
import { messageIdOf, storeReady } from '../mailbox/mailbox-generator.js';
import { longestStretch, type Place } from '../mailbox/mailbox-queries.js';

/** Message-IDs that the messages of the large conversations refer to. */
export const LARGE = 'large@bench.example';
export const HALVES = { one: 'one half@bench.example', other: 'other half@bench.example' } as const;

/** One of this many messages belongs to the large conversation, and one to one of its halves. */
const LARGE_EVERY = 60;

/** One in six answers an earlier message; three conversations are large, the others have one message to three. */
export function referencesOf(index: number): string[] {
  if (index % LARGE_EVERY === 3) return [LARGE];
  if (index % (2 * LARGE_EVERY) === 7) return [HALVES.one];
  if (index % (2 * LARGE_EVERY) === 67) return [HALVES.other];
  return index % 12 >= 10 && index > 5 ? [messageIdOf(index - 5)] : [];
}

export function threadOf({ store, inboxId }: Place, messageId: string): string {
  return store.read(reader => {
    const id = reader.get(threadLinksTable, linkKey(inboxId, hashedMessageId(messageId)));
    if (id === undefined) throw new Error(`no conversation of ${messageId}`);
    return canonicalThread(reader, id);
  });
}

export interface Change {
  readonly name: string;
  /** How often it can be made. */
  readonly times: number;
  readonly make: (time: number) => Promise<unknown>;
  readonly undo?: () => Promise<unknown>;
}

export interface ChangeTimes {
  readonly totalMs: number;
  /** The longest time for which the event loop was blocked. */
  readonly stretchMs: number;
}

/** The shortest of several, because other load on the machine makes them longer. */
export async function timeChange({ times, make, undo }: Change): Promise<ChangeTimes> {
  let [totalMs, stretchMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let time = 0; time < times; time++) {
    const startedAt = performance.now();
    stretchMs = Math.min(stretchMs, await longestStretch(() => make(time)));
    totalMs = Math.min(totalMs, performance.now() - startedAt);
    await undo?.();
  }
  return { totalMs, stretchMs };
}

/** Changes of conversations in an inbox that was filled by `referencesOf`. */
export function threadChanges(place: Place): Change[] {
  const { store, accountId, inboxId, size } = place;
  const uploads = new BlobUploads(store);
  let next = size;
  const arrive = (references: readonly string[]) =>
    store.write(writer => {
      next += 1;
      storeReady(writer, uploads, inboxId, { index: next, labels: [], references });
    });
  const input = () => ({ accountId, threadId: threadOf(place, LARGE) });
  const label = async (addLabels: string[], removeLabels: string[]) =>
    await changeThreadLabels({ store }, { ...input(), add_labels: addLabels, remove_labels: removeLabels });
  const ties = (from: number) => Array.from({ length: 31 }, (_, n) => messageIdOf(12 * (from + n + 1)));
  const members = Math.floor(size / LARGE_EVERY);
  const half = Math.floor(members / 2);
  return [
    { name: `a message joins ${members}`, times: 5, make: () => arrive([LARGE]) },
    { name: `a message merges ${half} and ${half}`, times: 1, make: () => arrive(Object.values(HALVES)) },
    { name: 'a message merges 31 small ones', times: 5, make: time => arrive(ties(40 * time)) },
    {
      name: `a label for all of ${members}`,
      times: 4,
      make: time => (time % 2 === 0 ? label(['done'], []) : label([], ['done'])),
    },
    {
      name: `all of ${members} to Trash`,
      times: 3,
      make: async () => await deleteThread({ store, clock: Date.now, retentionDays: 7 }, input()),
      undo: () => restoreAll(place),
    },
  ];
}

async function restoreAll({ store, accountId, inboxId }: Place): Promise<void> {
  const deps = { store, clock: Date.now };
  const trashed = store.read(reader => scanTrash(reader, inboxId, null, 100_000));
  const restore = async (messageId: string) =>
    await restoreMessage(deps, { accountId, messageId, kind: 'received' });
  await Promise.all(trashed.map(({ message }) => restore(message.id)));
}
