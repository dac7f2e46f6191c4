import { z } from 'zod';
import { Count, Deleted, EXAMPLE, Id, Ts, type Wire } from './common.js';
import { MAX_MESSAGE_BYTES, MAX_UPLOAD_BYTES, MAX_UPLOADS_BYTES } from './limits.js';
import { operations } from './operation.js';

const MIB = 2 ** 20;

export const Upload = z
  .object({
    upload_id: Id,
    size: Count.describe('Bytes.'),
    sha256: z.string().meta({ pattern: '^[a-f0-9]{64}$', description: 'Of the bytes, in hexadecimal.' }),
    expires_at: Ts.describe('Until then it can be attached. Messages and drafts that have it keep it.'),
  })
  .meta({
    id: 'Upload',
    examples: [
      {
        upload_id: '01936f52-9c40-7a18-b3d2-4e5f60718293',
        size: 1024,
        sha256: '5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef',
        expires_at: EXAMPLE.dayLater,
      },
    ],
  });
export type Upload = Wire<typeof Upload>;

const shared = {
  auth: 'bearer',
  isExtension: true,
  tag: 'sending',
  uncertain: 'outbound_unavailable',
} as const;

/** Files that are stored once and then attached by their id. */
export const UPLOAD_OPERATIONS = operations({
  createUpload: {
    ...shared,
    method: 'POST',
    path: '/v1/uploads',
    bytes: { limitBytes: MAX_UPLOAD_BYTES },
    summary: 'Upload a file',
    description: `The body is the file. For 24 hours messages and drafts take \`{"filename", "type", "upload_id"}\` among their attachments, as often as wanted. An account has at most ${MAX_UPLOADS_BYTES / MIB} MiB of uploads, within what it may store. All files of a message are counted in base64, which is a third longer, towards its ${MAX_MESSAGE_BYTES / MIB} MiB.`,
    responses: { 201: { description: 'The file is stored.', schema: Upload } },
    errors: ['storage_limit_reached'],
  },
  deleteUpload: {
    ...shared,
    method: 'DELETE',
    path: '/v1/uploads/{upload_id}',
    summary: 'Delete an uploaded file',
    description: 'Before its time is over. Messages and drafts that have it keep it.',
    responses: { 202: { description: 'The upload is out of reach from now on.', schema: Deleted } },
  },
});
