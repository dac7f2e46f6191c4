import { z } from 'zod';
import { Count } from '../common.js';
import { StoredAttachment } from '../sent.js';

/** Bytes of files that a result holds at most, all together; those beyond are fetched with `read_attachment`. */
export const MAX_INLINE_FILE_BYTES = 65_536;

/** Bytes of one chunk of `read_attachment` and `read_raw_message`: the most, and the default. */
export const MAX_CHUNK_BYTES = 262_144;
export const DEFAULT_CHUNK_BYTES = 65_536;

/** A file of a sent message or a draft. */
export const ToolFile = z.object({
  id: z.string().describe('For read_attachment.'),
  ...StoredAttachment.shape,
  content: StoredAttachment.shape.content
    .optional()
    .describe('The bytes in base64. Absent where they are left out: read_attachment fetches them.'),
});

export const chunkInput = {
  offset: z.number().optional().meta({ type: 'integer', minimum: 0, default: 0, description: 'First byte.' }),
  max_bytes: z
    .number()
    .optional()
    .meta({
      type: 'integer',
      minimum: 1,
      maximum: MAX_CHUNK_BYTES,
      default: DEFAULT_CHUNK_BYTES,
      description: `Bytes at most, 1 to ${MAX_CHUNK_BYTES}.`,
    }),
};

/** A part of a file. */
export const Chunk = z.object({
  offset: Count,
  content: z.string().describe('The bytes in base64: decode each chunk by itself, then join them.'),
  encoding: z.literal('base64'),
  next_offset: Count.nullable().describe('offset of the next chunk; null at the end.'),
  total_bytes: Count,
});
