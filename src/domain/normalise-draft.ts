import { fail, ok, type Result } from './errors.js';
import { checkIdempotencyKey } from './idempotency.js';
import { normaliseLabels } from './labels.js';
import { type FileInput, normaliseFiles } from './normalise-files.js';
import { checkRecipientCount, type MailboxInput, normaliseMailboxes } from './normalise-recipients.js';
import { checkReplyTarget, subjectProblemOf, textProblemOf } from './normalise-submission.js';
import type { Mailbox } from './submission.js';

/** Fields of a draft as they were given; what is absent was not said (wire contract, `CreateDraft`, `UpdateDraft`). */
export interface DraftInput {
  readonly to?: readonly MailboxInput[] | undefined;
  readonly cc?: readonly MailboxInput[] | undefined;
  readonly bcc?: readonly MailboxInput[] | undefined;
  readonly subject?: string | undefined;
  readonly text?: string | undefined;
  readonly html?: string | null | undefined;
  readonly attachments?: readonly FileInput[] | null | undefined;
  readonly inReplyTo?: string | null | undefined;
  readonly labels?: readonly string[] | undefined;
}

/** The same, checked. A field that is there was said; null clears. */
export interface DraftChange {
  readonly to?: readonly Mailbox[];
  readonly cc?: readonly Mailbox[];
  readonly bcc?: readonly Mailbox[];
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string | null;
  readonly files?: readonly FileInput[];
  readonly inReplyTo?: string | null;
  readonly labels?: readonly string[];
}

/** What a draft is made from (wire contract, `CreateDraft.source`). */
export interface DraftSource {
  readonly action: 'reply' | 'reply-all' | 'forward';
  readonly messageId: string;
  /** Of a forward only. */
  readonly includeAttachments?: boolean | undefined;
}

/** Checks the fields that were given; recipients, subject and text may be missing until it is sent. */
export function normaliseDraft(input: DraftInput): Result<DraftChange> {
  const recipients = normaliseGiven(input);
  if (!recipients.ok) return recipients;
  const { subject, text, html, inReplyTo } = input;
  const subjectProblem = subject === undefined ? null : subjectProblemOf(subject);
  const problem = subjectProblem ?? textProblemOf({ text, html });
  if (problem !== null) return fail('invalid_message', problem);
  const target = checkReplyTarget(inReplyTo);
  if (!target.ok) return target;
  const files = normaliseFiles(input.attachments);
  if (!files.ok) return files;
  const labels = normaliseLabels('labels', input.labels ?? []);
  if (!labels.ok) return labels;
  return ok({
    ...recipients.value,
    ...(subject === undefined ? {} : { subject }),
    ...(text === undefined ? {} : { text }),
    ...(html === undefined ? {} : { html }),
    ...(inReplyTo === undefined ? {} : { inReplyTo }),
    ...(input.attachments === undefined ? {} : { files: files.value }),
    ...(input.labels === undefined ? {} : { labels: labels.value }),
  });
}

function normaliseGiven(input: DraftInput): Result<Pick<DraftChange, 'to' | 'cc' | 'bcc'>> {
  const given: { to?: readonly Mailbox[]; cc?: readonly Mailbox[]; bcc?: readonly Mailbox[] } = {};
  for (const field of ['to', 'cc', 'bcc'] as const) {
    const list = input[field];
    if (list === undefined) continue;
    const mailboxes = normaliseMailboxes(field, list);
    if (!mailboxes.ok) return mailboxes;
    given[field] = mailboxes.value;
  }
  return checkRecipientCount(given.to ?? [], given.cc ?? [], given.bcc ?? []) ?? ok(given);
}

/** Checks what a draft is made from against the fields that come with it. */
export function normaliseSource(source: DraftSource, change: DraftChange): Result<DraftSource> {
  if (!checkReplyTarget(source.messageId).ok) {
    return fail('invalid_draft', 'source.message_id must be the id of a message of this inbox.');
  }
  if (source.action !== 'forward') return ok(source);
  if (change.files !== undefined) {
    return fail(
      'invalid_draft',
      'attachments cannot be given with a forward source, which brings those of the original; add others by an update.',
    );
  }
  if (typeof change.html === 'string') {
    return fail(
      'invalid_draft',
      'html cannot be given with a forward source, whose text is the note, but for null, which leaves it out; change it by an update.',
    );
  }
  return ok({ ...source, includeAttachments: source.includeAttachments ?? true });
}

/** The key of a creation; null when there is none. */
export function normaliseKey(key: string | undefined): Result<string | null> {
  return key === undefined ? ok(null) : checkIdempotencyKey(key);
}
