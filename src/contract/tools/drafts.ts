import { z } from 'zod';
import {
  CreatedDraft,
  DeletedDraft,
  DRAFT_OPERATIONS,
  DraftContent,
  DraftDetail,
  DraftMetadata,
  DraftPage,
} from '../drafts.js';
import { SendReceipt } from '../sent.js';
import { ToolFile } from './files.js';
import { bodyFields } from './messages.js';
import { ATTACHED, DELETES, inputOf, NO_HINTS, READS, STRANGERS, tools } from './tool.js';

const { createDraft, listDrafts, getDraft, updateDraft, deleteDraft, sendDraft } = DRAFT_OPERATIONS;

/** Messages that are not sent yet. */
export const DRAFT_TOOLS = tools({
  create_draft: {
    title: 'Create a draft',
    description: `Empty, filled, or prepared from a message that it answers or forwards (source). Nothing is sent and nothing charged. ${ATTACHED}`,
    annotations: NO_HINTS,
    input: inputOf(createDraft),
    output: CreatedDraft,
    operation: createDraft,
    quotesStrangers: true,
  },
  list_drafts: {
    title: 'List drafts',
    description: `Last created first. ${STRANGERS}`,
    annotations: READS,
    input: inputOf(listDrafts),
    output: DraftPage,
    operation: listDrafts,
    quotesStrangers: true,
  },
  get_draft: {
    title: 'Read a draft',
    description: `A draft as it was saved, with its files. One that forwards or answers may quote strangers. ${STRANGERS}`,
    annotations: READS,
    input: inputOf(getDraft),
    output: z.object({
      ...DraftDetail.shape,
      content: z.object({ ...DraftContent.shape, attachments: z.array(ToolFile) }),
      body_truncated: bodyFields.body_truncated,
    }),
    operation: getDraft,
    quotesStrangers: true,
  },
  update_draft: {
    title: 'Change a draft',
    description: `Only the fields that are given change; lists are replaced, null or empty clears. Before you write a body back, be sure that you have read all of it (body_truncated). ${ATTACHED}`,
    annotations: NO_HINTS,
    input: inputOf(updateDraft),
    output: DraftMetadata,
    operation: updateDraft,
    quotesStrangers: true,
  },
  delete_draft: {
    title: 'Delete a draft for good',
    description: 'Permanent; a message that was sent from it stays.',
    annotations: DELETES,
    input: inputOf(deleteDraft),
    output: DeletedDraft,
    operation: deleteDraft,
  },
  send_draft: {
    title: 'Send a draft',
    description:
      'Sends what is saved, once: a repeat gives the same attempt back. Look at message.status: accepted proves no delivery, rejected reached nobody, unknown may have gone out.',
    annotations: DELETES,
    input: inputOf(sendDraft),
    output: SendReceipt,
    operation: sendDraft,
  },
});
