import { VERDICTS } from '../contract/authentication.js';
import {
  MAX_QUERY_LENGTH,
  MAX_SOUGHT_ADDRESS_LENGTH,
  MAX_SOUGHT_SUBJECT_LENGTH,
} from '../contract/limits.js';
import type { Verdict } from './authentication.js';
import { refuse } from './errors.js';
import { type LabelFilter, NO_LABEL_FILTER, normaliseLabels } from './labels.js';
import { parseSearch, type SearchTerm } from './search-words.js';

/** The conditions of a list or count (`listMessages`, `countMessages`). Null and empty mean no condition. */
export interface MessageFilter {
  readonly labels: LabelFilter;
  /** Address of a mailbox in From, in lower case. */
  readonly from: string | null;
  /** Address of a mailbox in To, Cc or Bcc, in lower case. */
  readonly recipient: string | null;
  /** Part of the subject, as `foldCase` gives it. */
  readonly subject: string | null;
  /** Received or submitted at or after this time, in milliseconds since the epoch. */
  readonly after: number | null;
  /** Received or submitted before this time, in milliseconds since the epoch. */
  readonly before: number | null;
  /** What is known of who has written it; of received mail only. */
  readonly authentication: Verdict | null;
  /** Words and phrases that stand in subject or body, all of them. */
  readonly terms: readonly SearchTerm[];
}

export const NO_FILTER: MessageFilter = {
  labels: NO_LABEL_FILTER,
  from: null,
  recipient: null,
  subject: null,
  after: null,
  before: null,
  authentication: null,
  terms: [],
};

/** Search parameters as text, each absent or given once. */
export type SearchInput = Readonly<
  Partial<Record<'query' | 'from' | 'recipient' | 'subject' | 'after' | 'before' | 'authentication', string>>
>;

/**
 * Checks label groups and search parameters, and makes one filter of them.
 * @throws `invalid_labels` or `invalid_search`
 */
export function normaliseFilter(groups: LabelFilter, input: SearchInput): MessageFilter {
  const labels = normaliseGroups(groups);
  const terms = normaliseQuery(input.query);
  const from = normaliseAddress('from', input.from);
  const recipient = normaliseAddress('recipient', input.recipient);
  const subject = normaliseSubject(input.subject);
  const after = normaliseInstant('after', input.after);
  const before = normaliseInstant('before', input.before);
  if (after !== null && before !== null && after >= before) {
    throw refuse('invalid_search', 'after must be earlier than before.');
  }
  const authentication = normaliseVerdict(input.authentication);
  return { labels, from, recipient, subject, after, before, authentication, terms };
}

function normaliseQuery(text: string | undefined): readonly SearchTerm[] {
  if (text === undefined) return [];
  if (text.trim() === '' || text.length > MAX_QUERY_LENGTH) {
    throw refuse(
      'invalid_search',
      `query must be 1 to ${MAX_QUERY_LENGTH} characters and not blank: words, and phrases in double quotes.`,
    );
  }
  return parseSearch(text);
}

function normaliseVerdict(text: string | undefined): Verdict | null {
  if (text === undefined) return null;
  const verdict = VERDICTS.find(word => word === text);
  if (verdict === undefined) {
    throw refuse('invalid_search', `authentication must be one of ${VERDICTS.join(', ')}.`);
  }
  return verdict;
}

function normaliseGroups(groups: LabelFilter): LabelFilter {
  return {
    all: normaliseLabels('labels_all', groups.all),
    any: normaliseLabels('labels_any', groups.any),
    none: normaliseLabels('labels_none', groups.none),
  };
}

/** One address without a display name. A quoted local part may hold any character. */
const BARE_ADDRESS = /^(?:"(?:[^"\\]|\\.)+"|[^\s<>,;"]+)@[^\s<>,;"@]+$/u;

function normaliseAddress(name: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  const address = text.trim().toLowerCase();
  if (text.length > MAX_SOUGHT_ADDRESS_LENGTH || !BARE_ADDRESS.test(address)) {
    throw refuse('invalid_search', `${name} must be one bare address like name@example.org.`);
  }
  return address;
}

function normaliseSubject(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (text.trim() === '' || text.length > MAX_SOUGHT_SUBJECT_LENGTH) {
    throw refuse(
      'invalid_search',
      `subject must be 1 to ${MAX_SOUGHT_SUBJECT_LENGTH} characters and not blank.`,
    );
  }
  return foldCase(text.trim());
}

/**
 * Text to compare without regard to letter case, whole or in part. Lower case alone would not do: a sigma becomes
 * another letter at the end of a word than inside it.
 */
export function foldCase(text: string): string {
  return text.toLowerCase().toUpperCase();
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T(\d{2}):\d{2}:\d{2}(?:\.\d{1,3})?(?:Z|[+-](\d{2}):(\d{2}))$/;

function normaliseInstant(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const match = INSTANT.exec(text);
  const ms = match === null ? Number.NaN : Date.parse(text);
  if (match === null || Number.isNaN(ms) || !isOnCalendar(match)) {
    throw refuse('invalid_search', `${name} must be an instant with a zone, like 2026-01-31T12:00:00Z.`);
  }
  return ms;
}

/** `Date.parse` takes 30 February for a day in March, and 24:00 for midnight; neither is a valid time. */
function isOnCalendar([text, hour, zoneHour = '0', zoneMinute = '0']: RegExpExecArray): boolean {
  const day = text.slice(0, 10);
  const isDay = new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
  return isDay && Number(hour) < 24 && Number(zoneHour) < 24 && Number(zoneMinute) < 60;
}

/** A text that is equal for equal filters. Cursors are bound to it, so that one is refused with another filter. */
export function filterScope(filter: MessageFilter): string {
  const { labels, from, recipient, subject, after, before, authentication, terms } = filter;
  const parts = [labels.all, labels.any, labels.none, from, recipient, subject, after, before];
  // Cursors of before there were these conditions stay good.
  if (terms.length > 0) return JSON.stringify([...parts, authentication, terms]);
  return JSON.stringify(authentication === null ? parts : [...parts, authentication]);
}
