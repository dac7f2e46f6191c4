import {
  type AccountId,
  type ApprovalId,
  type AuditId,
  type FeedbackId,
  idToBytes,
  type KeyId,
} from '../../domain/ids.js';
import { range, u48, WHOLE_TABLE } from '../engine/keys.js';
import { bytesKey, jsonValue, type Reader, type Table, type Writer } from '../engine/tables.js';
import { addPending, removePending } from './pending.js';
import { countStored, RECORD_BYTES } from './storage.js';

/**
 * How a human has shown that an email address is theirs: by a link in a mail to it, by signing in with the
 * provider of the configuration, or the operator answers for them at the console.
 */
export type ApprovalMethod = 'mail' | 'sign_in' | 'console';

/** A page on which somebody may approve, until it expires or they did. */
export interface ApprovalLink {
  readonly id: ApprovalId;
  /** As it was proven; letter case does not matter. */
  readonly email: string;
  readonly method: Exclude<ApprovalMethod, 'console'>;
  readonly createdAt: number;
  readonly expiresAt: number;
  /**
   * One link gives one phrase. The link is kept until it expires, so that a second press of the button gets an
   * explanation.
   */
  readonly approvedAt: number | null;
}

/** A phrase that was approved and waits to be redeemed; gone when it is. */
export interface ClaimPhrase {
  /** Of the approval that it came of. */
  readonly id: ApprovalId;
  readonly email: string;
  readonly method: ApprovalMethod;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** SHA-256 of the token in the link -> link. */
export const approvalLinksTable: Table<Buffer, ApprovalLink> = {
  name: 'approval_links',
  encodeKey: bytesKey,
  ...jsonValue<ApprovalLink>(1),
};

/** SHA-256 of the phrase -> phrase. */
export const claimPhrasesTable: Table<Buffer, ClaimPhrase> = {
  name: 'claim_phrases',
  encodeKey: bytesKey,
  ...jsonValue<ClaimPhrase>(1),
};

export function findLink(reader: Reader, hash: Buffer): ApprovalLink | undefined {
  return reader.get(approvalLinksTable, hash);
}

/** Writes a new link and plans its end. */
export function putNewLink(writer: Writer, hash: Buffer, link: ApprovalLink): void {
  writer.put(approvalLinksTable, hash, link);
  addPending(writer, link.expiresAt, { kind: 'expire-link', id: link.id, hash: hash.toString('hex') });
}

/** A new version of a link. Whoever changes its instant of expiry moves its pending entry. */
export function putLink(writer: Writer, hash: Buffer, link: ApprovalLink): void {
  writer.put(approvalLinksTable, hash, link);
}

export function removeLink(writer: Writer, hash: Buffer, link: ApprovalLink): void {
  writer.remove(approvalLinksTable, hash);
  removePending(writer, { kind: 'expire-link', dueAt: link.expiresAt, id: link.id });
}

export function findPhrase(reader: Reader, hash: Buffer): ClaimPhrase | undefined {
  return reader.get(claimPhrasesTable, hash);
}

/** Writes a new phrase and plans its end. */
export function putNewPhrase(writer: Writer, hash: Buffer, phrase: ClaimPhrase): void {
  writer.put(claimPhrasesTable, hash, phrase);
  addPending(writer, phrase.expiresAt, { kind: 'expire-phrase', id: phrase.id, hash: hash.toString('hex') });
}

/** A new version of a phrase. Whoever changes its instant of expiry moves its pending entry. */
export function putPhrase(writer: Writer, hash: Buffer, phrase: ClaimPhrase): void {
  writer.put(claimPhrasesTable, hash, phrase);
}

export function removePhrase(writer: Writer, hash: Buffer, phrase: ClaimPhrase): void {
  writer.remove(claimPhrasesTable, hash);
  removePending(writer, { kind: 'expire-phrase', dueAt: phrase.expiresAt, id: phrase.id });
}

/** Events of the audit trail: signup, approval, claims and keys. */
export type AuditKind =
  /** A link was made for an address that may have one. */
  | 'requested'
  /** A link was asked for, or a sign-in came back, for an address that may have none. */
  | 'not_eligible'
  | 'mailed'
  | 'mail_failed'
  | 'opened'
  | 'signed_in'
  | 'approved'
  | 'claimed'
  | 'key_created'
  | 'key_revoked';

/** One event of the audit trail. Never holds a token, phrase or credential. */
export interface AuditEvent {
  /** Sorts by time. */
  readonly id: AuditId;
  readonly at: number;
  readonly kind: AuditKind;
  readonly email: string | null;
  readonly accountId: AccountId | null;
  readonly keyId: KeyId | null;
  /** Joins what belongs to one approval. */
  readonly approvalId: ApprovalId | null;
  /** Network address of whoever did it; null at the console and for what the daemon did by itself. */
  readonly client: string | null;
  readonly detail: string | null;
}

export const auditTable: Table<AuditId, AuditEvent> = {
  name: 'audit',
  encodeKey: idToBytes,
  ...jsonValue<AuditEvent>(1),
};

export function putAudit(writer: Writer, event: AuditEvent): void {
  writer.put(auditTable, event.id, event);
}

/** Newest first, those before `before`. */
export function scanAudit(reader: Reader, before: AuditId | null, limit: number): AuditEvent[] {
  const events = range(WHOLE_TABLE, null, before === null ? null : idToBytes(before));
  return reader.scan(auditTable, { ...events, reverse: true, limit }).map(entry => entry.value);
}

/** Removes up to `limit` events from before an instant; how many they were. Ids begin with their instant. */
export function removeAuditBefore(writer: Writer, atMs: number, limit: number): number {
  const events = range(WHOLE_TABLE, null, u48(atMs));
  const ids = writer.scan(auditTable, { ...events, limit }).map(entry => entry.value.id);
  for (const id of ids) writer.remove(auditTable, id);
  return ids.length;
}

/** Is there an event from before this instant? */
export function hasAuditBefore(reader: Reader, atMs: number): boolean {
  return reader.scanKeys(auditTable, { ...range(WHOLE_TABLE, null, u48(atMs)), limit: 1 }).length > 0;
}

/** What an agent told the operator. */
export interface FeedbackRecord {
  readonly id: FeedbackId;
  readonly accountId: AccountId;
  readonly createdAt: number;
  readonly title: string | null;
  readonly body: string;
}

export const feedbackTable: Table<FeedbackId, FeedbackRecord> = {
  name: 'feedback',
  encodeKey: idToBytes,
  ...jsonValue<FeedbackRecord>(1),
};

export function putFeedback(writer: Writer, feedback: FeedbackRecord): void {
  writer.put(feedbackTable, feedback.id, feedback);
  countStored(writer, feedback.accountId, bytesOfFeedback(feedback));
}

/** Bytes that feedback counts for. */
export function bytesOfFeedback({ title, body }: Pick<FeedbackRecord, 'title' | 'body'>): number {
  return RECORD_BYTES + Buffer.byteLength(title ?? '') + Buffer.byteLength(body);
}

/** How much feedback an account has given since an instant: at most a day of it is counted together. */
export interface FeedbackPace {
  readonly sinceMs: number;
  readonly count: number;
}

/** Account -> its pace; an entry that is over a day old counts as none. */
export const feedbackPaceTable: Table<AccountId, FeedbackPace> = {
  name: 'feedback_pace',
  encodeKey: idToBytes,
  ...jsonValue<FeedbackPace>(1),
};

/** Newest first, those before `before`. */
export function scanFeedback(reader: Reader, before: FeedbackId | null, limit: number): FeedbackRecord[] {
  const feedback = range(WHOLE_TABLE, null, before === null ? null : idToBytes(before));
  return reader.scan(feedbackTable, { ...feedback, reverse: true, limit }).map(entry => entry.value);
}

/** What the first claimer of an account answered (`createClaim`). Later claims do not change it. */
export interface SignupAnswers {
  readonly accountId: AccountId;
  readonly answeredAt: number;
  readonly discoverySource: string | null;
  readonly intendedUse: string | null;
}

/** Only accounts that a claim has created have an entry, and of these only those that answered. */
export const signupAnswersTable: Table<AccountId, SignupAnswers> = {
  name: 'signup_answers',
  encodeKey: idToBytes,
  ...jsonValue<SignupAnswers>(1),
};

export function putSignupAnswers(writer: Writer, answers: SignupAnswers): void {
  writer.put(signupAnswersTable, answers.accountId, answers);
}
