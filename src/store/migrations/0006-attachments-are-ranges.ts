import type { Migration } from './0001-initial-schema.js';

/**
 * Attachments are read from the raw bytes of their message. Messages that are ready keep the decoded copies that they
 * have: both forms are read (`AttachmentPlace`), and a message that is parsed again frees its copies. So nothing is
 * written; a program that knows only copies refuses the new schema.
 */
export const attachmentsAreRanges: Migration = {
  name: 'attachments are ranges of the raw bytes',
  up: () => {},
};
