import { type Refusal, refuse } from '../../domain/errors.js';
import { type AccountId, type MessageId, newId } from '../../domain/ids.js';
import { addressesOf, type Recipients } from '../../domain/message-parts.js';
import { isMapFull, type Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import { getSent, recipientCount, type SentRecord, viewSent } from '../../store/mailbox/messages.js';
import { getAccount } from '../../store/records/accounts.js';
import type { BlobUploads } from '../../store/records/blob-upload.js';
import type { InboxRecord } from '../../store/records/inboxes.js';
import { senderOf } from '../inboxes/inboxes.js';
import { checkSendingPolicy } from '../inboxes/policies.js';
import type { Clock, WorkQueue } from '../ports.js';
import { checkPermitted, locateInbox } from '../shared/callers.js';
import { findOrMake, keep, type MadeOnce, replay } from '../shared/once.js';
import { OutgoingUploads } from '../shared/uploads.js';
import { withShownThread } from '../threads/read-thread.js';
import type { SendResult, SendsInHand } from './in-flight.js';
import { checkContentSize, composeOutgoing, type OutgoingContent, withAttribution } from './outgoing.js';
import { checkQuota, type QuotaDeps } from './quota.js';
import { reserveSend } from './reserve-send.js';
import type { SendReceipt, SendRequest } from './send-request.js';

/**
 * Why nothing is sent twice, and nothing is lost silently.
 *
 * A send is one unit of work in the store, the reservation: idempotency key, charge, sent copy (`unknown`),
 * conversation, labels and the entry in the pending index are on disk together before anything is handed to
 * the relay, or none of them is. Before the relay opens a connection it marks the attempt as started, on disk
 * (`relay-message.ts`); nothing ever starts an attempt that bears the mark. So however often a request is
 * repeated, whatever is queued twice, and wherever the process ends, a message goes out once at most:
 *
 * - ended before the reservation: nothing happened, the key is unused;
 * - ended between reservation and mark: nothing has gone out; it is started as soon as it can be, for a day
 *   (`recover-sends.ts`, `start-attempt.ts`);
 * - ended after the mark: it may have gone out. It stays `unknown` and charged, and nobody tries again.
 *
 * A retry with the same key finds the reservation in the same unit of work that would have made it, so that
 * concurrent ones come to one attempt; it never resumes one.
 */
export interface SendDeps extends HandOverDeps {
  readonly uploads: BlobUploads;
  readonly clock: Clock;
  /** Messages for the relay; `isReady` is false while it cannot take any. */
  readonly queue: WorkQueue & { readonly isReady: boolean };
  readonly quota: QuotaDeps;
  /** The line that names the service. */
  readonly attribution: string;
}

/**
 * Sends a message, or recovers the attempt that the key stands for (specification, Sending). Resolves when the
 * outcome is known, or after the response timeout with `unknown`.
 */
export function submitSend(deps: SendDeps, request: SendRequest): Promise<SendReceipt> {
  // The request, which holds files, is let go before the outcome is waited for (`hand-over.ts`).
  return reserveNew(deps, request).then(sent => ('record' in sent ? handOver(deps, sent) : sent));
}

/** A new attempt, on disk; or the receipt of the one that there is. */
function reserveNew(deps: SendDeps, request: SendRequest): Promise<SendReceipt | Reserved> {
  const look = (): SendReceipt | null => deps.store.read(reader => findAttempt(reader, deps, request));
  return findOrMake<SendReceipt | Reserved>(look, async () => {
    const inbox = deps.store.read(reader => locateInbox(reader, request, request.inboxId));
    const content = await prepareContent(deps, request, inbox);
    return sendNew(deps, request, inbox, content);
  });
}

/** State, rules and size, in this order; what is not allowed is not worked out. */
async function prepareContent(
  { store }: Pick<SendDeps, 'store'>,
  request: SendRequest,
  inbox: InboxRecord,
): Promise<OutgoingContent> {
  const prepared = await request.prepare(inbox);
  const { recipients } = prepared;
  store.read(reader => checkRules(reader, inbox, recipients));
  const body = await prepared.body();
  checkContentSize(body);
  return { ...body, recipients };
}

/**
 * The attempt that there is: the answer to a retry. Null for a new one. Ownership, permission and replay are asked
 * in this order.
 */
function findAttempt(
  reader: Reader,
  deps: Pick<SendDeps, 'clock'>,
  request: SendRequest,
): SendReceipt | null {
  locateInbox(reader, request, request.inboxId);
  checkPermitted(reader, request, 'send');
  const made: MadeOnce<SendReceipt> = { what: 'message', find: id => attemptOf(reader, id as MessageId) };
  return replay(reader, request.retry, deps.clock(), made) ?? request.recover?.(reader) ?? null;
}

/** The receipt of an attempt as it stands; null when its sent copy has been deleted. */
export function attemptOf(reader: Reader, id: MessageId): SendReceipt | null {
  const record = getSent(reader, id);
  if (record === undefined || record.trash !== null) return null;
  return { limited: false, message: viewSent(withShownThread(reader, record)), outcome_persisted: true };
}

/** What is refused leaves nothing behind; rules and allowance are those of the reservation. */
async function sendNew(
  deps: SendDeps,
  request: SendRequest,
  inbox: InboxRecord,
  bare: OutgoingContent,
): Promise<SendReceipt | Reserved> {
  const content = withAttribution(bare, deps.attribution);
  const nowMs = deps.clock();
  const id = newId<MessageId>(nowMs);
  const from = senderOf(inbox);
  const facts = { id, messageId: `${id}@${inbox.domain}`, from, date: nowMs };
  const message = composeOutgoing(content, facts);
  deps.store.read(reader => checkQuotaOf(reader, deps, request.accountId, bare, nowMs));
  if (!deps.queue.isReady || !deps.store.room.hasRoomFor(2 * message.length)) {
    throw unavailable(request);
  }

  const uploads = new OutgoingUploads(deps.uploads);
  let isReserved = false;
  try {
    await uploads.add(content);
    const reserved = await deps.store.write(writer => {
      const receipt = findAttempt(writer, deps, request);
      if (receipt !== null) return { receipt };
      request.confirm?.(writer);
      checkRules(writer, inbox, bare.recipients);
      checkQuotaOf(writer, deps, request.accountId, bare, nowMs);
      request.onReserve?.(writer, id, nowMs);
      const record = reserveSend(writer, { request, inbox, content, facts, uploads });
      return { record, message, keyed: keep(writer, request.retry, id, nowMs) };
    });
    if ('receipt' in reserved) return reserved.receipt;
    isReserved = true;
    return reserved;
  } catch (error) {
    if (isMapFull(error)) throw unavailable(request);
    throw error;
  } finally {
    if (!isReserved) uploads.abort();
  }
}

function unavailable(request: SendRequest): Refusal {
  return refuse(
    request.unavailable ?? 'outbound_unavailable',
    'Sending is not possible at the moment: nothing was sent or charged, and the key is unused. Try again in a while.',
  );
}

function checkRules(reader: Reader, inbox: InboxRecord, recipients: Recipients): void {
  checkSendingPolicy(reader, inbox.id, addressesOf(recipients));
}

function checkQuotaOf(
  reader: Reader,
  deps: Pick<SendDeps, 'quota'>,
  accountId: AccountId,
  content: OutgoingContent,
  nowMs: number,
): void {
  const account = getAccount(reader, accountId);
  // Ownership was checked in this snapshot.
  if (account === undefined) throw new Error(`account ${accountId} of an inbox is missing`);
  checkQuota(reader, deps.quota, account, recipientCount(content.recipients), nowMs);
}

/** An attempt that is on disk, and its message for the relay. */
export interface Reserved {
  readonly record: SentRecord;
  readonly message: Uint8Array;
  /** What its receipt says of its key. */
  readonly keyed: Pick<SendReceipt, 'replayed' | 'idempotency_expires_at'>;
}

export interface HandOverDeps {
  readonly store: Store;
  readonly inHand: SendsInHand;
  readonly queue: WorkQueue;
  /** How long a request waits for the outcome. */
  readonly responseTimeoutMs: number;
}

/**
 * Offers a reserved message to the relay and waits for what becomes of it; without a word from there, it is as it is
 * saved. Nothing here is an async function, which would keep all that it was given while it waits: of a message
 * that is waited for only its record stays in memory, and its bytes as `SendsInHand` has room for them.
 */
export function handOver(deps: HandOverDeps, { record, message, keyed }: Reserved): Promise<SendReceipt> {
  const { store, inHand, queue, responseTimeoutMs } = deps;
  const { id, attempt } = record;
  if (attempt === 'settled') return Promise.resolve(receiptOf(store, record, keyed, null));
  const outcome = inHand.hold(id, message, responseTimeoutMs);
  queue.offer([id]);
  return outcome.then(result => receiptOf(store, record, keyed, result));
}

function receiptOf(
  store: Store,
  record: SentRecord,
  keyed: Reserved['keyed'],
  result: SendResult | null,
): SendReceipt {
  const { message, isPersisted } = result ?? {
    message: viewSent(store.read(reader => withShownThread(reader, getSent(reader, record.id) ?? record))),
    isPersisted: true,
  };
  return { limited: false, message, outcome_persisted: isPersisted, ...keyed };
}
