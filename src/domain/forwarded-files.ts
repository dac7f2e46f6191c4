import type { AttachmentMetadata } from './content.js';
import { isUsableContentId } from './content-id.js';
import { fail, ok, type Result } from './errors.js';
import { fileEnding, isMediaType, UNKNOWN_TYPE } from './media-type.js';
import { safeFilename } from './safe-filename.js';
import type { FileDescription } from './submission.js';

/** Files of one message (specification, Limits). */
const MAX_FILES = 32;

/** What a forward has to know of a file of the original. */
export type ForwardableFile = Omit<AttachmentMetadata, 'size'>;

export interface ForwardedFile extends FileDescription {
  /** Id of the file in the original, whose bytes it has. */
  readonly sourceId: string;
}

/**
 * The files of a forward (specification, ForwardInput rule 5): all of the original, in their order, with
 * names and types that are safe to transmit. One that stands inline or in a `multipart/related` keeps the
 * Content-ID by which the HTML shows it.
 * @returns `message_too_large` for more files than a message may have, `invalid_message` for an embedded
 *   one with a Content-ID that cannot be given again
 */
export function forwardedFiles(files: readonly ForwardableFile[]): Result<readonly ForwardedFile[]> {
  if (files.length > MAX_FILES) {
    return fail(
      'message_too_large',
      `The original has ${files.length} attachments, and ${MAX_FILES} is the most; forward it with include_attachments: false.`,
    );
  }
  const forwarded: ForwardedFile[] = [];
  for (const [index, file] of files.entries()) {
    const isEmbedded = file.related || file.disposition === 'inline';
    const contentId = file.content_id;
    const isUsable = contentId !== null && isUsableContentId(contentId);
    if (isEmbedded && contentId !== null && !isUsable) {
      return fail(
        'invalid_message',
        `Attachment ${index + 1} of the original is embedded by a Content-ID that cannot be transmitted; forward it with include_attachments: false.`,
      );
    }
    const type = isMediaType(file.mime_type) ? file.mime_type : UNKNOWN_TYPE;
    const isInline = file.disposition === 'inline' || (file.related && contentId !== null);
    forwarded.push({
      sourceId: file.id,
      filename: safeFilename(file.filename ?? '') ?? `attachment-${index + 1}.${fileEnding(type)}`,
      type,
      disposition: isInline ? 'inline' : 'attachment',
      ...(isUsable ? { contentId } : {}),
    });
  }
  return ok(forwarded);
}
