import { fail, ok, type Result } from './errors.js';
import { type LabelFilter, NO_LABEL_FILTER, normaliseLabels } from './labels.js';

/** Which messages a list or count is about (wire contract 0.3). Null and empty mean no condition. */
export interface MessageFilter {
  readonly labels: LabelFilter;
  /** Lower case; a mailbox of the From header. */
  readonly from: string | null;
  /** Lower case; a mailbox of To, Cc or Bcc. */
  readonly recipient: string | null;
  /** A part of the subject, without regard to letter case. */
  readonly subject: string | null;
  /** Milliseconds since the epoch: received or submitted at or after this instant. */
  readonly after: number | null;
  /** Before this instant. */
  readonly before: number | null;
}

export const NO_FILTER: MessageFilter = {
  labels: NO_LABEL_FILTER,
  from: null,
  recipient: null,
  subject: null,
  after: null,
  before: null,
};

/** Search parameters as text, each absent or given once. */
export type SearchInput = Readonly<
  Partial<Record<'from' | 'recipient' | 'subject' | 'after' | 'before', string>>
>;

/** UTF-16 code units before trimming. */
const MAX_ADDRESS_LENGTH = 320;
const MAX_SUBJECT_LENGTH = 998;

/** Checks label groups and search parameters as they were given, and joins them. */
export function normaliseFilter(groups: LabelFilter, input: SearchInput): Result<MessageFilter> {
  const labels = normaliseGroups(groups);
  if (!labels.ok) return labels;
  const from = normaliseAddress('from', input.from);
  if (!from.ok) return from;
  const recipient = normaliseAddress('recipient', input.recipient);
  if (!recipient.ok) return recipient;
  const subject = normaliseSubject(input.subject);
  if (!subject.ok) return subject;
  const after = normaliseInstant('after', input.after);
  if (!after.ok) return after;
  const before = normaliseInstant('before', input.before);
  if (!before.ok) return before;
  if (after.value !== null && before.value !== null && after.value >= before.value) {
    return fail('invalid_search', 'after must be earlier than before.');
  }
  return ok({
    labels: labels.value,
    from: from.value,
    recipient: recipient.value,
    subject: subject.value,
    after: after.value,
    before: before.value,
  });
}

function normaliseGroups(groups: LabelFilter): Result<LabelFilter> {
  const all = normaliseLabels('labels_all', groups.all);
  if (!all.ok) return all;
  const any = normaliseLabels('labels_any', groups.any);
  if (!any.ok) return any;
  const none = normaliseLabels('labels_none', groups.none);
  return none.ok ? ok({ all: all.value, any: any.value, none: none.value }) : none;
}

/** One address without a display name; a local part in quotation marks may have anything in it. */
const BARE_ADDRESS = /^(?:"(?:[^"\\]|\\.)+"|[^\s<>,;"]+)@[^\s<>,;"@]+$/u;

function normaliseAddress(name: string, text: string | undefined): Result<string | null> {
  if (text === undefined) return ok(null);
  const address = text.trim().toLowerCase();
  if (text.length > MAX_ADDRESS_LENGTH || !BARE_ADDRESS.test(address)) {
    return fail('invalid_search', `${name} must be one bare address like name@example.org.`);
  }
  return ok(address);
}

function normaliseSubject(text: string | undefined): Result<string | null> {
  if (text === undefined) return ok(null);
  if (text.trim() === '' || text.length > MAX_SUBJECT_LENGTH) {
    return fail('invalid_search', `subject must be 1 to ${MAX_SUBJECT_LENGTH} characters and not blank.`);
  }
  return ok(foldCase(text.trim()));
}

/**
 * Letter case made not to matter, in a part as in the whole. Lower case alone would not do: what a sigma
 * becomes depends on whether a word ends there.
 */
export function foldCase(text: string): string {
  return text.toLowerCase().toUpperCase();
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T(\d{2}):\d{2}:\d{2}(?:\.\d{1,3})?(?:Z|[+-](\d{2}):(\d{2}))$/;

function normaliseInstant(name: string, text: string | undefined): Result<number | null> {
  if (text === undefined) return ok(null);
  const match = INSTANT.exec(text);
  const ms = match === null ? Number.NaN : Date.parse(text);
  if (match === null || Number.isNaN(ms) || !isOnCalendar(match)) {
    return fail('invalid_search', `${name} must be an instant with a zone, like 2026-01-31T12:00:00Z.`);
  }
  return ok(ms);
}

/** Date.parse lets 30 February through as a day of March, and 24:00 as midnight. */
function isOnCalendar([text, hour, zoneHour = '0', zoneMinute = '0']: RegExpExecArray): boolean {
  const day = text.slice(0, 10);
  const isDay = new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
  return isDay && Number(hour) < 24 && Number(zoneHour) < 24 && Number(zoneMinute) < 60;
}

/** One text for equal filters, whatever the order and repetition of labels was: cursors are bound to it. */
export function filterScope(filter: MessageFilter): string {
  const { labels, from, recipient, subject, after, before } = filter;
  return JSON.stringify([labels.all, labels.any, labels.none, from, recipient, subject, after, before]);
}
