import type { ParsedMessage } from '../mail/parsed-message.js';
import type { PreparedContent } from '../usecases/ports.js';
import { ownBytes } from './parse-thread-sink.js';

/** Makes of a parsed message what the main thread takes: JSON bytes that can be given away, and key values. */
export function prepareContent({ content, ids }: ParsedMessage): PreparedContent & {
  readonly json: Uint8Array<ArrayBuffer>;
} {
  return {
    json: ownBytes(Buffer.from(JSON.stringify(content), 'utf8')),
    subject: content.subject,
    messageId: content.message_id,
    from: content.from,
    filenames: content.attachments.map(attachment => attachment.filename),
    ids,
  };
}
