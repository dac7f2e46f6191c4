import type { ApprovalId } from '../domain/ids.js';
import { addPending, removePending } from './pending.js';
import type { Reader, Writer } from './reader-writer.js';
import { bytesKey, jsonValue, type Table } from './table.js';

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
  /** One link gives one phrase. It stays until it expires, so that a second press is told why. */
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

/** A new version of a link; its instant of expiry never changes. */
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

export function removePhrase(writer: Writer, hash: Buffer, phrase: ClaimPhrase): void {
  writer.remove(claimPhrasesTable, hash);
  removePending(writer, { kind: 'expire-phrase', dueAt: phrase.expiresAt, id: phrase.id });
}
