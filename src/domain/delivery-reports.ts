import { DAY_MS } from './instants.js';

/*
 * What mail systems report of messages that were sent from here: delivery status notifications (RFC 3464) and abuse
 * reports (RFC 5965); and what follows from them for later messages.
 */

/** What a message reports. Everything in it is claimed by its sender: nothing proves that a server wrote it. */
export interface MailReport {
  readonly kind: 'dsn' | 'abuse';
  /** In their order; `MAX_REPORTED` at most. */
  readonly recipients: readonly ReportedRecipient[];
  /** Message-ID of the message it is about, without brackets; null when it does not tell. */
  readonly originalMessageId: string | null;
}

/** RFC 3464 section 2.3.3; `complained`: the recipient calls the message abuse. */
export type ReportedAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded' | 'complained';

export interface ReportedRecipient {
  /** As written; an address that mail can be sent to. */
  readonly address: string;
  readonly action: ReportedAction;
  /** Enhanced status code (RFC 3463); null when there is none. */
  readonly status: string | null;
  /** What the server said, in one line without controls; null when it is not told. */
  readonly diagnostic: string | null;
}

/** Recipients that are read of one report: no message from here has more. */
export const MAX_REPORTED = 100;

/** Characters that are kept of a diagnostic. */
export const MAX_DIAGNOSTIC_LENGTH = 500;

const ENHANCED_CODE = /^[245]\.\d{1,3}\.\d{1,3}$/;

/** An enhanced code between characters that are not part of one: `550-5.1.1 no`, `(#5.1.1)`. */
const CODE_IN_TEXT = /(?:^|[^\w.])([245]\.\d{1,3}\.\d{1,3})(?![\w.]*\d)/;

export function isEnhancedCode(text: string): boolean {
  return ENHANCED_CODE.test(text);
}

/** The first enhanced status code in a reply; null when it has none. */
export function enhancedCodeIn(reply: string): string | null {
  return CODE_IN_TEXT.exec(reply)?.[1] ?? null;
}

/**
 * Codes by which an address does not exist: bad mailbox, bad host, bad syntax, and the recipient not found of RFC 7505
 * and of Exchange. A full mailbox, a route, a policy or a protocol says nothing of that kind.
 */
const NO_SUCH_ADDRESS: ReadonlySet<string> = new Set(['5.1.1', '5.1.2', '5.1.3', '5.1.10']);

/** Does this enhanced code say that there is no such address, so that nothing more is to be sent there? */
export function saysNoSuchAddress(code: string): boolean {
  return NO_SUCH_ADDRESS.has(code);
}

/** How long an account sends nothing to an address of which it has learnt that it is not there, or does not want mail. */
export const SUPPRESSION_LIFETIME_MS = 90 * DAY_MS;

/**
 * Addresses that are suppressed for one account at most; what is learnt beyond them suppresses nothing. An account that
 * sends to a hundred dead addresses a day comes near it.
 */
export const MAX_ACCOUNT_SUPPRESSIONS = 10_000;
