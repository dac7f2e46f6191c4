import { z } from 'zod';
import {
  DeletedThread,
  THREAD_OPERATIONS,
  ThreadDetail,
  ThreadLabelResult,
  ThreadPage,
  ThreadReceivedDetail,
  ThreadSentDetail,
} from '../threads.js';
import { bodyFields, receivedFields } from './messages.js';
import { DELETES_ONCE, format, include_preview, inputOf, NO_HINTS, READS, STRANGERS, tools } from './tool.js';

const { listThreads, getThread, updateThreadLabels, deleteThread } = THREAD_OPERATIONS;

const [{ shape: receivedOfThread }] = ThreadReceivedDetail.options;
const { direction, timestamp } = receivedOfThread;

const ThreadMessage = z.union([
  z.object({ ...receivedFields, direction, timestamp }),
  z.object({
    ...ThreadSentDetail.shape,
    reply_text: ThreadSentDetail.shape.reply_text.optional(),
    ...bodyFields,
  }),
]);

/** Conversations. */
export const THREAD_TOOLS = tools({
  list_threads: {
    title: 'List and search conversations',
    description: `Last active first. One message of a conversation must meet all conditions. Stop when next_cursor is null. ${STRANGERS}`,
    annotations: READS,
    input: inputOf(listThreads, { include_preview }),
    output: ThreadPage,
    operation: listThreads,
    quotesStrangers: true,
  },
  get_thread: {
    title: 'Read a conversation',
    description: `The newest page of messages first; within a page the oldest comes first. No format has the bytes of files. ${STRANGERS}`,
    annotations: READS,
    input: inputOf(getThread, { format }),
    output: z.object({ ...ThreadDetail.shape, messages: z.array(ThreadMessage) }),
    operation: getThread,
    quotesStrangers: true,
  },
  update_thread_labels: {
    title: 'Label a conversation',
    description: 'Adds and removes labels of every message that is in the conversation now.',
    annotations: NO_HINTS,
    input: inputOf(updateThreadLabels),
    output: ThreadLabelResult,
    operation: updateThreadLabels,
  },
  delete_thread: {
    title: 'Move a conversation to Trash',
    description:
      'Every message that is in it now, received and sent. For seven days each can be brought back from list_trash.',
    annotations: DELETES_ONCE,
    input: inputOf(deleteThread),
    output: DeletedThread,
    operation: deleteThread,
  },
});
