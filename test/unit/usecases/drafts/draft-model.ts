import type { UpdateDraft } from '../../../../src/contract/drafts.js';
import { DAY_MS } from '../with-house.js';

/** A draft as its writer sees it. */
export interface ModelDraft {
  readonly id: string;
  readonly inboxId: string;
  readonly createdAt: number;
  updatedAt: number;
  content: ModelContent;
  sentId: string | null;
}

export interface ModelContent {
  readonly to: readonly object[];
  readonly cc: readonly object[];
  readonly bcc: readonly object[];
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
  readonly files: readonly object[];
  readonly labels: readonly string[];
}

interface ModelSent {
  readonly draftId: string;
  readonly status: string;
  readonly inboxId: string;
  /** Restorable until then; null while it is live. */
  trashedUntil: number | null;
}

interface ModelKey {
  readonly meaning: string;
  readonly resultId: string;
  readonly expiresAt: number;
}

const NOTHING: ModelContent = {
  to: [],
  cc: [],
  bcc: [],
  subject: '',
  text: '',
  html: null,
  files: [],
  labels: [],
};

const RECIPIENTS = ['to', 'cc', 'bcc'] as const;

/**
 * What drafts must do, as simply as it can be said: contents that are overwritten field by field, and one
 * attempt a draft at most. Everything is answered by looking at all there is.
 */
export class DraftModel {
  drafts: ModelDraft[] = [];
  readonly sent = new Map<string, ModelSent>();
  readonly keys = { draft: new Map<string, ModelKey>(), send: new Map<string, ModelKey>() };
  charges: { readonly at: number; readonly amount: number }[] = [];
  readonly #allowance: number;

  constructor(allowance: number) {
    this.#allowance = allowance;
  }

  find(id: string): ModelDraft | undefined {
    return this.drafts.find(draft => draft.id === id);
  }

  key(namespace: 'draft' | 'send', key: string | undefined, nowMs: number): ModelKey | undefined {
    const known = key === undefined ? undefined : this.keys[namespace].get(key);
    return known !== undefined && known.expiresAt > nowMs ? known : undefined;
  }

  /** Can the sent copy be shown? */
  isShown(sentId: string): boolean {
    return this.sent.get(sentId)?.trashedUntil === null;
  }

  used(nowMs: number): number {
    const counted = this.charges.filter(({ at }) => at > nowMs - DAY_MS);
    return counted.reduce((sum, { amount }) => sum + amount, 0);
  }

  /** Why the draft cannot be sent as it is; null when it can. */
  refusal(draft: ModelDraft, nowMs: number): string | null {
    const { to, subject, text } = draft.content;
    if (to.length === 0 || subject.trim() === '' || text.trim() === '') return 'invalid_message';
    return this.used(nowMs) + countOf(draft.content) > this.#allowance ? 'outbound_limit_reached' : null;
  }

  /** Drafts of an inbox, last created first. */
  list(inboxId: string, state: 'draft' | 'submitted' | 'all'): string[] {
    return this.drafts
      .filter(draft => draft.inboxId === inboxId)
      .filter(({ sentId }) => state === 'all' || (sentId === null) === (state === 'draft'))
      .map(({ id }) => id)
      .reverse();
  }
}

/** Why these fields cannot be saved by themselves; null when they can. */
export function fieldProblem(fields: UpdateDraft): string | null {
  const lists = RECIPIENTS.map(name => fields[name] ?? []);
  if (lists.flat().some(({ address }) => !address.includes('@'))) return 'invalid_message';
  if (lists.flat().length > 50) return 'invalid_message';
  const { subject = '', labels = [] } = fields;
  if (Buffer.byteLength(subject) > 998 || subject.includes('\n')) return 'invalid_message';
  return labels.some(label => label.trim() === '') ? 'invalid_labels' : null;
}

/** What a draft holds when these fields are written over it. */
export function written(fields: UpdateDraft, before: ModelContent = NOTHING): ModelContent {
  const mailboxes = (list: UpdateDraft['to']) =>
    (list ?? []).map(({ address, name = '' }) =>
      name.trim() === '' ? { address } : { address, name: name.trim() },
    );
  const given: Partial<Record<keyof ModelContent, unknown>> = {};
  for (const name of RECIPIENTS) if (fields[name] !== undefined) given[name] = mailboxes(fields[name]);
  for (const name of ['subject', 'text', 'html'] as const) {
    if (fields[name] !== undefined) given[name] = fields[name];
  }
  if (fields.attachments !== undefined) {
    given.files = (fields.attachments ?? []).map(file => ({ ...file, disposition: 'attachment' }));
  }
  if (fields.labels !== undefined) {
    const labels = new Set(fields.labels.map(label => label.trim()));
    given.labels = [...labels].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }
  return { ...before, ...given } as ModelContent;
}

export function countOf({ to, cc, bcc }: ModelContent): number {
  return to.length + cc.length + bcc.length;
}

/** Equal for creations that mean the same. */
export function meaningOf(inboxId: string, fields: UpdateDraft): string {
  return JSON.stringify([inboxId, written(fields)]);
}
