import { z } from 'zod';
import { Deleted } from '../common.js';
import { MAX_UPLOAD_BYTES } from '../limits.js';
import { attachmentFields } from '../sent.js';
import { UPLOAD_OPERATIONS, Upload } from '../uploads.js';
import { DELETES, inputOf, NO_HINTS, tools } from './tool.js';

const { createUpload, deleteUpload } = UPLOAD_OPERATIONS;

/** Files that are stored once and then attached by their id. */
export const UPLOAD_TOOLS = tools({
  create_upload: {
    title: 'Upload a file',
    description: `Stores a file of at most ${MAX_UPLOAD_BYTES / 2 ** 20} MiB. For 24 hours messages and drafts take its upload_id in place of its bytes, as often as wanted. A file that a message has already needs no upload: attach it by message_id and attachment_id.`,
    annotations: NO_HINTS,
    input: z.strictObject({ content: attachmentFields.content }),
    output: Upload,
    operation: createUpload,
  },
  delete_upload: {
    title: 'Delete an uploaded file',
    description: 'Before its 24 hours are over. Messages and drafts that have it keep it.',
    annotations: DELETES,
    input: inputOf(deleteUpload),
    output: Deleted,
    operation: deleteUpload,
  },
});
