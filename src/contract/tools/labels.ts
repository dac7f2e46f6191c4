import { BulkLabelResult, LABEL_OPERATIONS, LabelList, LabelResult } from '../labels.js';
import { inputOf, READS, REPEATABLE, tools } from './tool.js';

const { updateMessageLabels, bulkUpdateMessageLabels } = LABEL_OPERATIONS;
const { updateSentMessageLabels, bulkUpdateSentLabels, listLabels } = LABEL_OPERATIONS;

const ONE = 'Both changes apply together; other labels stay. Labels need no creation.';
const MANY = 'Up to 100 messages, all or none. Labels need no creation.';

/** Labels on messages. */
export const LABEL_TOOLS = tools({
  update_message_labels: {
    title: 'Label a received message',
    description: `Adds and removes labels of a received message. ${ONE}`,
    annotations: REPEATABLE,
    input: inputOf(updateMessageLabels),
    output: LabelResult,
    operation: updateMessageLabels,
  },
  bulk_update_message_labels: {
    title: 'Label many received messages',
    description: `Adds and removes labels of received messages. ${MANY}`,
    annotations: REPEATABLE,
    input: inputOf(bulkUpdateMessageLabels),
    output: BulkLabelResult,
    operation: bulkUpdateMessageLabels,
  },
  update_sent_message_labels: {
    title: 'Label a sent message',
    description: `Adds and removes labels of a sent message. ${ONE}`,
    annotations: REPEATABLE,
    input: inputOf(updateSentMessageLabels),
    output: LabelResult,
    operation: updateSentMessageLabels,
  },
  bulk_update_sent_message_labels: {
    title: 'Label many sent messages',
    description: `Adds and removes labels of sent messages. ${MANY}`,
    annotations: REPEATABLE,
    input: inputOf(bulkUpdateSentLabels),
    output: BulkLabelResult,
    operation: bulkUpdateSentLabels,
  },
  list_labels: {
    title: 'List labels',
    description: 'The labels in use in an inbox, in alphabetical order, with their counts.',
    annotations: READS,
    input: inputOf(listLabels),
    output: LabelList,
    operation: listLabels,
  },
});
