import type { Authentication, Origin } from '../../domain/authentication.js';
import type { MessageId } from '../../domain/ids.js';
import { MINUTE_MS } from '../../domain/instants.js';
import type { Store } from '../../store/engine/store.js';
import type { Writer } from '../../store/engine/tables.js';
import { getMessage, type ReceivedRecord, type Recheck, saveMessage } from '../../store/mailbox/messages.js';
import { addPending, removePending } from '../../store/records/pending.js';
import { type Authenticator, type Clock, IMPORTED, IN_PROCESS } from '../ports.js';
import { rawSourceOf } from './raw-source.js';

/** Pauses before it is looked once more who has written a message, when DNS did not answer. */
const RECHECK_MS = [5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS] as const;
export const LAST_RECHECK_MS = RECHECK_MS[2];

/** Did it come from an inbox of this box? No client of the network has this address. */
export function isLocal({ clientAddress }: Pick<ReceivedRecord, 'clientAddress'>): boolean {
  return clientAddress === IN_PROCESS;
}

/** Was it imported? Who has written it can no longer be found out. */
export function isImported({ clientAddress }: Pick<ReceivedRecord, 'clientAddress'>): boolean {
  return clientAddress === IMPORTED;
}

export function originOf({ clientAddress, helo, envelopeFrom }: ReceivedRecord): Origin {
  return { clientAddress, helo, sender: envelopeFrom };
}

/**
 * Plans the next look at a message whose verdict is `unknown`, in the unit of work that saves it with what this returns.
 * @param number which look it would be, from 1
 * @returns null when there is none: it is known, it was never looked for, or DNS has not answered often enough
 */
export function planRecheck(
  writer: Writer,
  id: MessageId,
  authentication: Authentication | null,
  number: number,
  nowMs: number,
): Recheck | null {
  const pauseMs = RECHECK_MS[number - 1];
  if (authentication?.verdict !== 'unknown' || pauseMs === undefined) return null;
  const dueAt = nowMs + pauseMs;
  addPending(writer, dueAt, { kind: 'authenticate', id });
  return { dueAt, number };
}

export interface RecheckDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly authenticator: Authenticator;
  /** The process is about to end: what a check says then is not the fault of DNS. */
  readonly isStopping: () => boolean;
}

/**
 * Looks once more who has written a message, and saves it with the time of the next look if that is not known even now.
 * Does nothing when the message is gone or no look is due. A process that ends meanwhile looks again at its next start.
 */
export async function recheckMessage(deps: RecheckDeps, id: MessageId): Promise<void> {
  const { store, clock, authenticator, isStopping } = deps;
  const record = store.read(reader => getMessage(reader, id));
  if (record?.recheck == null) return;
  const authentication = await authenticator.check(rawSourceOf(store, record), originOf(record));
  if (isStopping() && authentication.verdict === 'unknown') return;
  const { dueAt, number } = record.recheck;
  await store.write(writer => {
    const now = getMessage(writer, id);
    // Trash, labels and a new parse may have changed it meanwhile.
    if (now?.recheck?.dueAt !== dueAt || now.recheck.number !== number) return;
    removePending(writer, { kind: 'authenticate', dueAt, id });
    const recheck = planRecheck(writer, id, authentication, number + 1, clock());
    saveMessage(writer, now, { ...now, authentication, recheck });
  }, 'settle');
}
