import { Refusal } from '../../domain/errors.js';
import type { MessageId } from '../../domain/ids.js';
import { envelopeRecipients, type Recipients } from '../../domain/message-parts.js';
import type { Store } from '../../store/engine/store.js';
import { getSent, type SentRecord, viewSent } from '../../store/mailbox/messages.js';
import { withShownThread } from '../../store/threads/names.js';
import type { Clock, Logger, Relay, RelayOutcome } from '../ports.js';
import { outcomeFields, recordOutcome, startAttempt } from './attempt.js';
import type { SendsInFlight } from './in-flight.js';
import { composeOutgoing, readOutgoing } from './outgoing.js';

export interface RelayDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly relay: Relay;
  readonly inFlight: SendsInFlight;
  readonly log: Logger;
}

/** What decides when a reserved message is handed over: who sends it, and to whom. */
export type RelayWork = Pick<SentRecord, 'id' | 'accountId' | keyof Recipients>;

/**
 * Hands one reserved message to the relay and saves the outcome. The mark `started` is on disk before the relay hears
 * of the message, and a message that bears it is left alone: this is where "at most once" is kept (`submit-send.ts`
 * says why).
 */
export async function relayMessage(deps: RelayDeps, id: MessageId): Promise<void> {
  try {
    await relayReserved(deps, id);
  } catch (error) {
    // The store failed: nobody will know the outcome, so the waiting request is let go.
    deps.inFlight.settle(id, null);
    throw error;
  }
}

async function relayReserved(deps: RelayDeps, id: MessageId): Promise<void> {
  const { store, clock, inFlight } = deps;
  const reserved = store.read(reader => getSent(reader, id));
  // Deleted, or queued twice: there is nothing to do.
  if (reserved?.attempt !== 'reserved') return inFlight.settle(id, null);
  const content = inFlight.take(id) ?? (await composeAgain(deps, reserved));
  const start = await store.write(writer => startAttempt(writer, id, clock), 'settle');
  if (start.kind === 'left') return inFlight.settle(id, null);
  const { record } = start;
  if (start.kind === 'refused') return inFlight.settle(id, { message: viewSent(record), isPersisted: true });
  await saveOutcome(deps, record, content === null ? CONTENT_MISSING : await submit(deps, record, content));
}

const CONTENT_MISSING: RelayOutcome = {
  status: 'rejected',
  errorCode: 'E_MESSAGE_REJECTED',
  detail: 'its stored content is missing',
};

function submit({ relay }: RelayDeps, record: SentRecord, content: Uint8Array): Promise<RelayOutcome> {
  const envelope = { from: record.from.address, recipients: envelopeRecipients(record) };
  return relay.submit({ id: record.id, envelope, content });
}

/** From the same facts the same bytes (`mail/write/compose-message.ts`); null when stored bytes are missing. */
async function composeAgain({ store, log }: RelayDeps, record: SentRecord): Promise<Uint8Array | null> {
  const { id, messageId, from, reservedAt, mentionsItself = false } = record;
  try {
    const content = await readOutgoing(store, record);
    return await composeOutgoing(content, { id, messageId, from, date: reservedAt, mentionsItself });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.failure.code === 'content_unavailable') {
      log.error({ message_id: id }, 'stored bytes of a message that was to be sent are missing');
    }
    return null;
  }
}

/**
 * A known outcome that cannot be saved is still reported to the waiting request, as not saved. The relay has logged it.
 */
async function saveOutcome(
  { store, clock, inFlight }: RelayDeps,
  record: SentRecord,
  outcome: RelayOutcome,
): Promise<void> {
  const unsaved = { message: viewSent({ ...record, ...outcomeFields(outcome) }), isPersisted: false };
  try {
    const saved = await store.write(writer => recordOutcome(writer, record, outcome, clock()), 'settle');
    const shown = saved === null ? null : store.read(reader => withShownThread(reader, saved));
    inFlight.settle(record.id, shown === null ? unsaved : { message: viewSent(shown), isPersisted: true });
  } catch (error) {
    inFlight.settle(record.id, unsaved);
    throw error;
  }
}
