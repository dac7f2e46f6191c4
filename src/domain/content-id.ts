import { isUsableMessageId } from './references.js';

/**
 * A Content-ID that can be given to a file again, without its angle brackets: it is made as a Message-ID is
 * (RFC 2045 section 7), and here too what stands inside is taken as it is, since the HTML refers to it.
 */
export function isUsableContentId(id: string): boolean {
  return isUsableMessageId(id);
}
