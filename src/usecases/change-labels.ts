import { fail, notFound, ok, type Result } from '../domain/errors.js';
import { type AccountId, isUuid } from '../domain/ids.js';
import { applyLabelChange, type LabelChange, normaliseLabelChange } from '../domain/labels.js';
import type { IndexedMessage } from '../store/mailbox-index.js';
import type { Writer } from '../store/reader-writer.js';
import type { Store } from '../store/store.js';
import { type MessageAccess, ownedMessage } from './message-access.js';

export interface LabelInput {
  readonly accountId: AccountId;
  readonly addLabels: readonly string[];
  readonly removeLabels: readonly string[];
}

/** A message's labels after a change (wire contract, `LabelResult`). */
export interface LabelResult {
  readonly id: string;
  readonly labels: readonly string[];
}

type ChangeDeps<Message extends IndexedMessage> = {
  readonly store: Store;
  readonly access: MessageAccess<Message>;
};

/** Adds and removes labels of one message together (specification, "Labels: update rules"). */
export async function changeLabels<Message extends IndexedMessage>(
  deps: ChangeDeps<Message>,
  input: LabelInput & { readonly messageId: string },
): Promise<Result<LabelResult>> {
  const change = normaliseLabelChange(input.addLabels, input.removeLabels);
  if (!change.ok) return change;
  return deps.store.write(writer => {
    const owned = ownedMessage(writer, deps.access, input.accountId, input.messageId);
    return owned.ok ? ok(applyChange(writer, deps.access, owned.value, change.value)) : owned;
  });
}

const MAX_BATCH = 100;

/**
 * The same for up to a hundred messages of one account, over any of its inboxes, all or nothing: one unit of
 * work, which looks at every target before it changes the first.
 */
export async function changeLabelsInBatch<Message extends IndexedMessage>(
  deps: ChangeDeps<Message>,
  input: LabelInput & { readonly messageIds: readonly string[] },
): Promise<Result<readonly LabelResult[]>> {
  const { messageIds } = input;
  if (messageIds.length < 1 || messageIds.length > MAX_BATCH || !messageIds.every(isUuid)) {
    return fail('invalid_message_ids', `message_ids must be 1 to ${MAX_BATCH} message ids.`);
  }
  const change = normaliseLabelChange(input.addLabels, input.removeLabels);
  if (!change.ok) return change;
  return deps.store.write(writer => {
    const targets: Message[] = [];
    for (const id of new Set(messageIds)) {
      const owned = ownedMessage(writer, deps.access, input.accountId, id);
      // Which one it was is not told: it may be another account's.
      if (!owned.ok) return notFound('message among message_ids');
      targets.push(owned.value);
    }
    return ok(targets.map(target => applyChange(writer, deps.access, target, change.value)));
  });
}

/** The same within a unit of work that has found the message. */
export function applyChange<Message extends IndexedMessage>(
  writer: Writer,
  access: MessageAccess<Message>,
  message: Message,
  change: LabelChange,
): LabelResult {
  const labels = applyLabelChange(message.labels, change);
  const isSame =
    labels.length === message.labels.length && labels.every((label, at) => label === message.labels[at]);
  if (!isSame) access.save(writer, message, { ...message, labels });
  return { id: message.id, labels };
}
