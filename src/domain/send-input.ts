import type { CreateDraft, UpdateDraft } from '../contract/drafts.js';
import { MAX_MESSAGE_BYTES, MAX_SUBJECT_BYTES, PATTERNS } from '../contract/limits.js';
import type { FileInput, ForwardInput, ReplyInput, SendInput } from '../contract/sending.js';
import { type Refusal, refuse } from './errors.js';
import { checkIdempotencyKey } from './idempotency.js';
import { normaliseLabels } from './labels.js';
import {
  checkRecipientCount,
  type Mailbox,
  normaliseFiles,
  normaliseMailboxes,
  normaliseRecipients,
  type OutgoingBody,
  type Recipients,
} from './message-parts.js';
import { lineFaultOf } from './text.js';

/** The input of `sendMessage`, checked and in one form: names trimmed, labels sorted, absent and null alike. */
export interface NormalSubmission {
  readonly recipients: Recipients;
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
  readonly files: readonly FileInput[];
  readonly inReplyTo: string | null;
  /** Sorted by `sortLabels`, each once. */
  readonly labels: readonly string[];
  readonly idempotencyKey: string | null;
}

const MESSAGE_REF = new RegExp(PATTERNS.messageRef);

/**
 * Checks every field of a submission. Its size is checked later, by `checkContentSize`.
 * @throws `invalid_message`, `invalid_name`, `invalid_labels` or `invalid_idempotency_key`
 */
export function normaliseSubmission(input: SendInput): NormalSubmission {
  const recipients = normaliseRecipients(input);
  checkComplete({ ...input, to: recipients.to });
  checkBody(input);
  return {
    recipients,
    subject: input.subject,
    text: input.text,
    html: input.html ?? null,
    files: normaliseFiles(input.attachments),
    ...normaliseOptions(input),
  };
}

function checkBody({ subject, text, html, in_reply_to }: SendInput): void {
  const subjectProblem = subjectProblemOf(subject);
  if (subjectProblem !== null) throw refuse('invalid_message', subjectProblem);
  checkTexts({ text, html });
  checkReplyTarget(in_reply_to);
}

/**
 * Checks what every message must have when it is sent: a recipient in To, a subject and a text.
 * @throws `invalid_message`
 */
export function checkComplete(message: {
  readonly to: readonly Mailbox[];
  readonly subject: string;
  readonly text: string;
}): void {
  if (message.to.length === 0) throw refuse('invalid_message', 'to must have at least one entry.');
  if (message.subject.trim() === '') throw refuse('invalid_message', 'subject must not be blank.');
  if (message.text.trim() === '') throw refuse('invalid_message', 'text must not be blank.');
}

function checkTexts({ text, html }: Pick<SendInput, 'text' | 'html'>): void {
  if (text.trim() === '') throw refuse('invalid_message', 'text must not be blank.');
  const problem = textProblemOf({ text, html });
  if (problem !== null) throw refuse('invalid_message', problem);
}

/** What is wrong with a subject, for a refusal; null when nothing is. A blank one passes: a draft may have it. */
function subjectProblemOf(subject: string): string | null {
  return lineFaultOf(subject, MAX_SUBJECT_BYTES) === null
    ? null
    : `subject must be well-formed Unicode of at most ${MAX_SUBJECT_BYTES} UTF-8 bytes without control characters.`;
}

/** What is wrong with the bodies, for a refusal; null when nothing is. Blank ones pass, as in a draft. */
function textProblemOf(bodies: {
  readonly text?: string | undefined;
  readonly html?: string | null | undefined;
}): string | null {
  if (bodies.text?.isWellFormed() === false) return 'text must be well-formed Unicode.';
  return bodies.html?.isWellFormed() === false ? 'html must be well-formed Unicode.' : null;
}

/** Checks only the form of an id; whether the message exists is looked up later. */
function checkReplyTarget(id: string | null | undefined, field = 'in_reply_to'): void {
  if (id !== undefined && id !== null && !isMessageRef(id)) {
    throw refuse('invalid_message', `${field} must be the id of a message of this inbox.`);
  }
}

function isMessageRef(id: string): boolean {
  return MESSAGE_REF.test(id);
}

/** The input of `replyMessage` or `replyAllMessage`, checked. */
export interface NormalReply
  extends Pick<NormalSubmission, 'text' | 'html' | 'files' | 'labels' | 'idempotencyKey'> {
  readonly messageId: string;
}

/**
 * Checks a reply as `normaliseSubmission` does; recipients and subject are derived from the message it answers.
 * @throws `invalid_message`, `invalid_labels` or `invalid_idempotency_key`
 */
export function normaliseReply(input: ReplyInput): NormalReply {
  checkReplyTarget(input.message_id, 'message_id');
  checkTexts(input);
  const files = normaliseFiles(input.attachments);
  const { labels, idempotencyKey } = normaliseOptions(input);
  const { message_id: messageId, text, html = null } = input;
  return { messageId, text, html, files, labels, idempotencyKey };
}

/** The input of `forwardMessage`, checked. */
export interface NormalForward extends Pick<NormalSubmission, 'recipients' | 'labels' | 'idempotencyKey'> {
  readonly messageId: string;
  /** Empty for none. */
  readonly note: string;
  readonly includeAttachments: boolean;
}

/**
 * Checks a forward as `normaliseSubmission` does; the rest is derived from the message it forwards.
 * @throws `invalid_message`, `invalid_name`, `invalid_labels` or `invalid_idempotency_key`
 */
export function normaliseForward(input: ForwardInput): NormalForward {
  checkReplyTarget(input.message_id, 'message_id');
  const recipients = normaliseRecipients(input);
  if (recipients.to.length === 0) throw refuse('invalid_message', 'to must have at least one entry.');
  const { message_id: messageId, note = '', include_attachments: includeAttachments = true } = input;
  if (!note.isWellFormed()) throw refuse('invalid_message', 'note must be well-formed Unicode.');
  const { labels, idempotencyKey } = normaliseOptions(input);
  return { messageId, recipients, note, includeAttachments, labels, idempotencyKey };
}

/** The fields that every way of sending takes besides its content. */
function normaliseOptions(
  input: Pick<SendInput, 'in_reply_to' | 'labels' | 'idempotency_key'>,
): Pick<NormalSubmission, 'inReplyTo' | 'labels' | 'idempotencyKey'> {
  return {
    inReplyTo: input.in_reply_to ?? null,
    labels: normaliseLabels('labels', input.labels ?? []),
    idempotencyKey: checkIdempotencyKey(input.idempotency_key),
  };
}

/** What takes time to read of an input. */
export interface Texts {
  readonly text?: string;
  readonly html?: string | null;
  readonly note?: string;
  readonly files?: readonly FileInput[];
}

/** Texts and encoded files together, in characters. */
export function lengthOfTexts({ text = '', html, note = '', files = [] }: Texts): number {
  const texts = text.length + (html?.length ?? 0) + note.length;
  return files.reduce((sum, file) => sum + ('content' in file ? file.content.length : 0), texts);
}

/** The size that is held against the limit: bodies in UTF-8 and files in base64, together, in bytes. */
export function contentBytes(content: {
  readonly text: string;
  readonly html: string | null;
  /** Decoded sizes. */
  readonly fileSizes: readonly number[];
}): number {
  const files = content.fileSizes.reduce((sum, size) => sum + 4 * Math.ceil(size / 3), 0);
  return Buffer.byteLength(content.text) + Buffer.byteLength(content.html ?? '') + files;
}

/**
 * Checks the size of text, HTML and encoded files before the message is composed.
 * @throws `message_too_large`
 */
export function checkContentSize({ text, html, files }: OutgoingBody): void {
  const size = contentBytes({ text, html, fileSizes: files.map(file => file.bytes.length) });
  if (size > MAX_MESSAGE_BYTES) throw tooLarge(size);
}

/** The refusal of a message that has `size` bytes or more. */
export function tooLarge(size: number): Refusal {
  return refuse(
    'message_too_large',
    `The message has at least ${size} bytes with its attachments encoded; at most ${MAX_MESSAGE_BYTES} (5 MiB) can be sent.`,
  );
}

/** The fields of a draft that were given, checked. A field that is absent was not given; null clears. */
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

/** The message that a draft replies to or forwards (`createDraft`), checked. */
export interface DraftSource {
  readonly action: 'reply' | 'reply-all' | 'forward';
  readonly messageId: string;
  /** Of a forward only. */
  readonly includeAttachments?: boolean;
}

/**
 * Checks the fields that were given. Recipients, subject and text may be missing until the draft is sent.
 * @throws `invalid_message`, `invalid_name` or `invalid_labels`
 */
export function normaliseDraft(input: UpdateDraft): DraftChange {
  const recipients = normaliseGivenRecipients(input);
  const { subject, text, html, in_reply_to: inReplyTo } = input;
  const subjectProblem = subject === undefined ? null : subjectProblemOf(subject);
  const problem = subjectProblem ?? textProblemOf({ text, html });
  if (problem !== null) throw refuse('invalid_message', problem);
  checkReplyTarget(inReplyTo);
  const files = normaliseFiles(input.attachments);
  const labels = normaliseLabels('labels', input.labels ?? []);
  return {
    ...recipients,
    ...(subject === undefined ? {} : { subject }),
    ...(text === undefined ? {} : { text }),
    ...(html === undefined ? {} : { html }),
    ...(inReplyTo === undefined ? {} : { inReplyTo }),
    ...(input.attachments === undefined ? {} : { files }),
    ...(input.labels === undefined ? {} : { labels }),
  };
}

function normaliseGivenRecipients(input: UpdateDraft): Pick<DraftChange, 'to' | 'cc' | 'bcc'> {
  const given: { to?: readonly Mailbox[]; cc?: readonly Mailbox[]; bcc?: readonly Mailbox[] } = {};
  for (const field of ['to', 'cc', 'bcc'] as const) {
    const list = input[field];
    if (list !== undefined) given[field] = normaliseMailboxes(field, list);
  }
  checkRecipientCount(given.to ?? [], given.cc ?? [], given.bcc ?? []);
  return given;
}

/**
 * Checks the source of a draft, and that the fields given with it do not contradict it.
 * @throws `invalid_draft`
 */
export function normaliseSource(
  source: NonNullable<CreateDraft['source']>,
  change: DraftChange,
): DraftSource {
  const { action, message_id: messageId } = source;
  if (!isMessageRef(messageId)) {
    throw refuse('invalid_draft', 'source.message_id must be the id of a message of this inbox.');
  }
  if (action !== 'forward') return { action, messageId };
  if (change.files !== undefined) {
    throw refuse(
      'invalid_draft',
      'attachments cannot be given with a forward source, which brings those of the original; add others by an update.',
    );
  }
  if (typeof change.html === 'string') {
    throw refuse(
      'invalid_draft',
      'html cannot be given with a forward source, whose text is the note, but for null, which leaves it out; change it by an update.',
    );
  }
  return { action, messageId, includeAttachments: source.include_attachments ?? true };
}
