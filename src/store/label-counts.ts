import type { InboxId } from '../domain/ids.js';
import { idToBytes } from '../domain/ids.js';
import { joinKey, prefixEnd, text, u8, u48 } from './key-codec.js';
import type { MessageKind } from './mailboxes.js';
import type { Reader, Writer } from './reader-writer.js';
import { asItIs, bytesKey, type Table } from './table.js';

/** How many live messages of each kind have a label. */
export interface LabelCount {
  readonly received: number;
  readonly sent: number;
}

/**
 * [inbox, label] -> counts. In the order of the labels' bytes, so that it is the list of labels too; a label
 * that no live message has is not in it.
 */
export const labelCountsTable: Table<Buffer, LabelCount> = {
  name: 'label_counts',
  encodeKey: bytesKey,
  encodeValue: count => joinKey(u48(count.received), u48(count.sent)),
  decodeValue: bytes => ({ received: bytes.readUIntBE(0, 6), sent: bytes.readUIntBE(6, 6) }),
  gather: asItIs,
};

const INBOX_BYTES = 16;
const NONE: LabelCount = { received: 0, sent: 0 };

function labelKey(inboxId: InboxId, label: string): Buffer {
  return joinKey(idToBytes(inboxId), text(label));
}

export function getLabelCount(reader: Reader, inboxId: InboxId, label: string): LabelCount {
  return reader.get(labelCountsTable, labelKey(inboxId, label)) ?? NONE;
}

/** Counts a message more (`change` 1) or less (-1) for a label. */
export function changeLabelCount(
  writer: Writer,
  inboxId: InboxId,
  label: string,
  kind: MessageKind,
  change: 1 | -1,
): void {
  writer.update(labelCountsTable, labelKey(inboxId, label), (before = NONE) => {
    const after = { ...before, [kind]: before[kind] + change };
    return after.received === 0 && after.sent === 0 ? undefined : after;
  });
}

/** Labels that begin with `prefix`, in binary order, those behind `after`. */
export function scanLabels(
  reader: Reader,
  inboxId: InboxId,
  prefix: string,
  after: string | null,
  limit: number,
): { readonly label: string; readonly count: LabelCount }[] {
  const start = labelKey(inboxId, prefix);
  const from = after === null ? start : joinKey(labelKey(inboxId, after), u8(0));
  const to = prefixEnd(start) ?? Buffer.alloc(INBOX_BYTES + 1, 0xff);
  return reader
    .scan(labelCountsTable, { from, to, limit })
    .map(({ key, value }) => ({ label: key.toString('utf8', INBOX_BYTES), count: value }));
}
