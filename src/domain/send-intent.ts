import { createHash } from 'node:crypto';
import type { FileInput } from '../contract/sending.js';
import { intentDigest } from './idempotency.js';
import type { Mailbox } from './message-parts.js';
import type { DraftChange, DraftSource, NormalForward, NormalReply, NormalSubmission } from './send-input.js';

/**
 * Digest that decides whether a second send with the same idempotency key repeats the first (`sendMessage`). Two
 * digests are equal exactly when these are: inbox, recipients with their names and order, subject, bodies, files with
 * their order, reply target, and the set of labels. Digests of different operations are never equal.
 */
export function explicitSendIntent(inboxId: string, submission: NormalSubmission): string {
  const { recipients, subject, text, html, files, inReplyTo, labels } = submission;
  return intentDigest([
    'send',
    inboxId,
    mailboxParts(recipients.to),
    mailboxParts(recipients.cc),
    mailboxParts(recipients.bcc),
    subject,
    text,
    html,
    fileParts(files),
    inReplyTo,
    labels,
  ]);
}

function mailboxParts(mailboxes: readonly Mailbox[]): unknown {
  return mailboxes.map(({ address, name }) => [address, name ?? null]);
}

/**
 * File contents are hashed first, so that no large text has to be built. A reference stands for itself: a retry is known
 * without what it leads to, which may be gone by then.
 */
function fileParts(files: readonly FileInput[]): unknown {
  return files.map(file => {
    if ('content' in file) {
      return [file.filename, file.type, createHash('sha256').update(file.content).digest('base64url')];
    }
    return 'upload_id' in file
      ? [file.filename, file.type, ['upload', file.upload_id]]
      : [file.filename ?? null, file.type ?? null, ['attachment', file.message_id, file.attachment_id]];
  });
}

/** The digest of `replyMessage` or `replyAllMessage`: what is derived from the source message is not part of it. */
export function replyIntent(scope: 'reply' | 'reply-all', inboxId: string, reply: NormalReply): string {
  const { messageId, text, html, files, labels } = reply;
  return intentDigest([scope, inboxId, messageId, text, html, fileParts(files), labels]);
}

/** The digest of `forwardMessage`. */
export function forwardIntent(inboxId: string, forward: NormalForward): string {
  const { messageId, recipients, note, includeAttachments, labels } = forward;
  return intentDigest([
    'forward',
    inboxId,
    messageId,
    mailboxParts(recipients.to),
    mailboxParts(recipients.cc),
    mailboxParts(recipients.bcc),
    note,
    includeAttachments,
    labels,
  ]);
}

/** The digest of `createDraft`. With a source, a field that is absent is derived, so which fields were given counts. */
export function draftIntent(inboxId: string, change: DraftChange, source: DraftSource | null): string {
  const {
    to = [],
    cc = [],
    bcc = [],
    subject = '',
    text = '',
    html,
    files = [],
    inReplyTo,
    labels = [],
  } = change;
  return intentDigest([
    'draft',
    inboxId,
    mailboxParts(to),
    mailboxParts(cc),
    mailboxParts(bcc),
    subject,
    text,
    html ?? null,
    fileParts(files),
    inReplyTo ?? null,
    labels,
    source === null ? null : [source.action, source.messageId, source.includeAttachments ?? null],
    source === null ? null : Object.keys(change).sort(),
  ]);
}

/** The digest of `sendDraft`: the draft counts, not what it holds. */
export function draftSendIntent(draftId: string): string {
  return intentDigest(['send-draft', draftId]);
}
