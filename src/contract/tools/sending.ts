import { z } from 'zod';
import { Deleted, nextCursor } from '../common.js';
import { DELIVERY_OPERATIONS, Deliveries } from '../deliveries.js';
import { Quota, SENDING_OPERATIONS } from '../sending.js';
import { SENT_OPERATIONS, SendReceipt, SentDetail, SentSummary, Submission } from '../sent.js';
import { Restored, TRASH_OPERATIONS } from '../trash.js';
import { ToolFile } from './files.js';
import { bodyFields, MovedToTrash } from './messages.js';
import {
  ATTACHED,
  DELETES,
  format,
  include_preview,
  inputOf,
  READS,
  REPEATABLE,
  SENDS,
  STRANGERS,
  tools,
} from './tool.js';

const { sendMessage, replyMessage, replyAllMessage, forwardMessage, getOutboundQuota } = SENDING_OPERATIONS;
const { listSentMessages, getSentMessage, deleteSentMessage } = SENT_OPERATIONS;
const { trashSentMessage, restoreSentMessage } = TRASH_OPERATIONS;

const AFTER =
  'Look at message.status: accepted (taken, which proves no delivery), rejected (nobody has it, nothing is charged), unknown (it may have gone out: never send it again without looking). An idempotency_key makes a repeat safe for 24 hours.';

/** A sent message in every format. */
export const sentFields = {
  ...SentDetail.shape,
  reply_text: SentDetail.shape.reply_text.optional(),
  submission: z.object({ ...Submission.shape, attachments: z.array(ToolFile) }),
  ...bodyFields,
};

/** Sending, and what was sent. */
export const SENDING_TOOLS = tools({
  send_message: {
    title: 'Send a message',
    description: `Sends mail from an inbox to the world. ${ATTACHED} ${AFTER}`,
    annotations: SENDS,
    input: inputOf(sendMessage),
    output: SendReceipt,
    operation: sendMessage,
  },
  reply_message: {
    title: 'Answer a message',
    description: `Answers the sender of a message; recipients and subject follow from it, its text is not quoted. ${ATTACHED} ${AFTER}`,
    annotations: SENDS,
    input: inputOf(replyMessage),
    output: SendReceipt,
    operation: replyMessage,
  },
  reply_all_message: {
    title: 'Answer a message to everyone',
    description: `Answers a message to its sender and all its recipients. ${ATTACHED} ${AFTER}`,
    annotations: SENDS,
    input: inputOf(replyAllMessage),
    output: SendReceipt,
    operation: replyAllMessage,
  },
  forward_message: {
    title: 'Forward a message',
    description: `Passes a message on, with its files unless include_attachments is false. ${AFTER}`,
    annotations: SENDS,
    input: inputOf(forwardMessage),
    output: SendReceipt,
    operation: forwardMessage,
  },
  get_outbound_quota: {
    title: 'What is left of the allowance',
    description: 'How many recipients may still be sent to in these 24 hours.',
    annotations: READS,
    input: inputOf(getOutboundQuota),
    output: Quota,
    operation: getOutboundQuota,
  },
  list_sent: {
    title: 'List and search sent messages',
    description: `Newest first, whatever became of them. All conditions must hold. Stop when next_cursor is null. ${STRANGERS}`,
    annotations: READS,
    input: inputOf(listSentMessages, { include_preview }),
    output: z.object({ messages: z.array(SentSummary), next_cursor: nextCursor }),
    operation: listSentMessages,
    quotesStrangers: true,
  },
  get_sent_message: {
    title: 'Read a sent message',
    description: `What was sent and what became of it. format full adds HTML, headers and files in base64. ${STRANGERS}`,
    annotations: READS,
    input: inputOf(getSentMessage, { format }),
    output: z.object(sentFields),
    operation: getSentMessage,
    quotesStrangers: true,
  },
  list_deliveries: {
    title: 'What became of a sent message',
    description: `For each recipient: whether it was delivered, is tried again, or has failed, and what the server there said. ${STRANGERS}`,
    annotations: READS,
    input: inputOf(DELIVERY_OPERATIONS.listDeliveries),
    output: Deliveries,
    operation: DELIVERY_OPERATIONS.listDeliveries,
    quotesStrangers: true,
  },
  delete_sent_message: {
    title: 'Move a sent message to Trash',
    description: 'For seven days restore_sent_message brings it back. It recalls nothing that was sent.',
    annotations: DELETES,
    input: inputOf(trashSentMessage),
    output: MovedToTrash,
    operation: trashSentMessage,
  },
  restore_sent_message: {
    title: 'Bring a sent message back',
    description: 'A sent message of list_trash comes back with its labels and files.',
    annotations: REPEATABLE,
    input: inputOf(restoreSentMessage),
    output: Restored,
    operation: restoreSentMessage,
  },
  erase_sent_message: {
    title: 'Delete a sent message for good',
    description:
      'Permanent: no Trash, no way back. Only when your human has asked for exactly this; otherwise use delete_sent_message.',
    annotations: DELETES,
    input: inputOf(deleteSentMessage),
    output: Deleted,
    operation: deleteSentMessage,
    isPermanent: true,
  },
});
