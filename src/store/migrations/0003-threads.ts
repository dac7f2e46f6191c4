import { idToBytes } from '../../domain/ids.js';
import { messageIdsIn, parentIdsIn, type ThreadingIds } from '../../domain/message-ids.js';

import { range, WHOLE_TABLE } from '../engine/keys.js';
import type { Reader, Writer } from '../engine/tables.js';
import { fieldStart, summariesTable, textField } from '../mailbox/folders.js';
import { moveInIndex } from '../mailbox/index.js';
import { chunkCount, getChunk } from '../records/blobs.js';
import { joinThread } from '../threads/move.js';
import type { Migration } from './0001-initial-schema.js';
import { type ReceivedBefore, receivedBefore, receivedContentsBefore } from './schema-3.js';

/** Ready messages join their conversations; records keep their version, `threadId` was null in all of them. */
export const threads: Migration = {
  name: 'threads',
  up: () => {},
  more: (writer, nowMs, position) => {
    const messages = writer.scan(receivedBefore, { ...range(WHOLE_TABLE, position), limit: PER_UNIT });
    for (const { value } of messages) {
      if (value.status === 'ready' && value.threadId === null) tie(writer, value, nowMs);
    }
    return messages.length < PER_UNIT ? null : (messages.at(-1)?.key ?? null);
  },
};

const PER_UNIT = 500;

function tie(writer: Writer, before: ReceivedBefore, nowMs: number): void {
  const threadId = joinThread(writer, before.inboxId, idsOf(writer, before), nowMs);
  const after: ReceivedBefore = { ...before, threadId };
  writer.put(receivedBefore, after.id, after);
  const line = writer.get(summariesTable, after);
  moveInIndex(writer, before, after, line === undefined ? null : withThreadId(line, threadId));
}

/** Only this value of the line changes. */
function withThreadId(line: Buffer, threadId: string): Buffer {
  const start = fieldStart(line, 'thread_id');
  const isNull = start >= 0 && line.toString('latin1', start, start + NULL.length) === NULL;
  return isNull
    ? Buffer.concat([
        line.subarray(0, start),
        Buffer.from(JSON.stringify(threadId)),
        line.subarray(start + NULL.length),
      ])
    : line;
}

const NULL = 'null';
/** As many as the parser has taken from a header since. */
const MAX_IDS = 2_000;

function idsOf(reader: Reader, record: ReceivedBefore): ThreadingIds {
  const head = contentHead(reader, record);
  return {
    messageId: messageIdsIn(record.messageId ?? '', 1)[0] ?? null,
    references: messageIdsIn(textField(head, 'references') ?? '', MAX_IDS),
    inReplyTo: parentIdsIn(textField(head, 'in_reply_to') ?? '', MAX_IDS),
  };
}

/** Header fields come first in a content, texts behind them: a long content is not read to its end. */
const MAX_HEAD_CHUNKS = 16;

function contentHead(reader: Reader, { id, content }: ReceivedBefore): Buffer {
  if (content?.in !== 'blob') return reader.get(receivedContentsBefore, idToBytes(id)) ?? Buffer.alloc(0);
  let head = Buffer.alloc(0);
  const count = Math.min(chunkCount(content.blob.size), MAX_HEAD_CHUNKS);
  // `date` is the first field behind those that are looked for.
  for (let index = 0; index < count && fieldStart(head, 'date') < 0; index++) {
    head = Buffer.concat([head, getChunk(reader, content.blob.id, index) ?? Buffer.alloc(0)]);
  }
  return head;
}
