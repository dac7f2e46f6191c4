import { createHash } from 'node:crypto';
import type { AttachmentInput } from '../contract/sending.js';
import { intentDigest } from './idempotency.js';
import type { Mailbox } from './message-parts.js';
import type { DraftChange, DraftSource, NormalForward, NormalReply, NormalSubmission } from './send-input.js';

/**
 * What makes two sends under one key the same (specification, "Idempotency keys for sends" rule 3): the digest
 * is equal exactly when inbox, recipients with names and order, subject, bodies, files with order, reply target
 * and the set of labels are. Kinds of sending never equal each other.
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

/** Content by its hash: the digest's input stays small. */
function fileParts(files: readonly AttachmentInput[]): unknown {
  return files.map(({ filename, type, content }) => [
    filename,
    type,
    createHash('sha256').update(content).digest('base64url'),
  ]);
}

/** The same for a reply or reply-all: what is derived from the source does not matter. */
export function replyIntent(scope: 'reply' | 'reply-all', inboxId: string, reply: NormalReply): string {
  const { messageId, text, html, files, labels } = reply;
  return intentDigest([scope, inboxId, messageId, text, html, fileParts(files), labels]);
}

/** The same for a forward; an empty note is none. */
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

/** The same for the creation of a draft (wire contract 3.17): with a source, which fields were given matters too. */
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

/** The same for the sending of a draft: it is the draft that is meant, whatever is in it. */
export function draftSendIntent(draftId: string): string {
  return intentDigest(['send-draft', draftId]);
}
