import { DAY_MS } from '../domain/instants.js';
import { findLink, findPhrase, removeLink, removePhrase } from '../store/approvals.js';
import { hasAuditBefore, removeAuditBefore } from '../store/audit.js';
import { listDue, removePending } from '../store/pending.js';
import type { Store } from '../store/store.js';
import type { Clock } from './ports.js';

/** Steps of the sweep (`sweep.ts`) over what approvals leave behind; each says whether there may be more. */
type Deps = { readonly store: Store; readonly clock: Clock; readonly auditRetentionDays?: number };

const RECORDS_PER_STEP = 100;
const AUDIT_RETENTION_DAYS = 400;

export async function expireLinks({ store, clock }: Deps): Promise<boolean> {
  const due = store.read(reader => listDue(reader, 'expire-link', clock(), RECORDS_PER_STEP));
  if (due.length === 0) return false;
  await store.write(writer => {
    for (const { work, dueAt } of due) {
      const hash = Buffer.from(work.hash, 'hex');
      const link = findLink(writer, hash);
      if (link !== undefined) removeLink(writer, hash, link);
      removePending(writer, { kind: 'expire-link', dueAt, id: work.id });
    }
  });
  return true;
}

export async function expirePhrases({ store, clock }: Deps): Promise<boolean> {
  const due = store.read(reader => listDue(reader, 'expire-phrase', clock(), RECORDS_PER_STEP));
  if (due.length === 0) return false;
  await store.write(writer => {
    for (const { work, dueAt } of due) {
      const hash = Buffer.from(work.hash, 'hex');
      const phrase = findPhrase(writer, hash);
      if (phrase !== undefined) removePhrase(writer, hash, phrase);
      removePending(writer, { kind: 'expire-phrase', dueAt, id: work.id });
    }
  });
  return true;
}

/** The trail is kept for so long and no longer: it names people and where they were. */
export async function expireAudit({
  store,
  clock,
  auditRetentionDays = AUDIT_RETENTION_DAYS,
}: Deps): Promise<boolean> {
  const before = Math.max(0, clock() - auditRetentionDays * DAY_MS);
  if (!store.read(reader => hasAuditBefore(reader, before))) return false;
  await store.write(writer => removeAuditBefore(writer, before, RECORDS_PER_STEP));
  return true;
}
