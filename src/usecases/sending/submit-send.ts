import type { Keyed } from '../../contract/common.js';
import type { SendReceipt } from '../../contract/sent.js';
import { type Refusal, refuse } from '../../domain/errors.js';
import { sentExcerpt } from '../../domain/excerpts/excerpts-of-content.js';
import { type MessageId, newId } from '../../domain/ids.js';
import { addressesOf } from '../../domain/message-parts.js';
import { joinWords, messageWords } from '../../domain/message-words.js';
import { checkContentSize } from '../../domain/send-input.js';
import { inSlices, pauseIfLong } from '../../lib/slices.js';
import { isHeldAfterRestore } from '../../store/engine/meta.js';
import { NoRoomError } from '../../store/engine/room.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import { getSent, recipientCount, type SentRecord, viewSent } from '../../store/mailbox/messages.js';
import type { BlobUploads } from '../../store/records/blob-upload.js';
import type { DeliveryRecord } from '../../store/records/deliveries.js';
import type { InboxRecord } from '../../store/records/inboxes.js';
import { withShownThread } from '../../store/threads/names.js';
import { senderOf } from '../inboxes/inboxes.js';
import { checkSendingPolicy } from '../inboxes/policies.js';
import type { Clock, MailSigner, WorkQueue } from '../ports.js';
import { checkPermitted, locateInbox } from '../shared/callers.js';
import { findOrMake, keep, type MadeOnce, replay } from '../shared/once.js';
import { checkStorage } from '../shared/storage.js';
import { withUploads } from '../shared/uploads.js';
import type { SendResult, SendsInFlight } from './in-flight.js';
import { composeOutgoing, type OutgoingContent, withAttribution } from './outgoing.js';
import { checkQuota, type QuotaDeps } from './quota.js';
import type { Recipe } from './recipe.js';
import type { RelayWork } from './relay-message.js';
import { type ReservedSend, reserveSend, uploadContent, uploadTransmitted } from './reserve-send.js';

/**
 * Why nothing is sent twice, and nothing is lost silently.
 *
 * A send is one unit of work in the store, the reservation: idempotency key, charge, sent copy (`unknown`),
 * conversation, labels and the entry in the pending index are on disk together before anything is handed to the relay,
 * or none of them is. Before the relay opens a connection the attempt is marked as started, on disk
 * (`relay-message.ts`); nothing ever starts an attempt that bears the mark. So however often a request is repeated,
 * whatever is queued twice, and wherever the process ends, a message goes out once at most:
 *
 * - ended before the reservation: nothing happened, the key is unused;
 * - ended between reservation and mark: nothing has gone out; it is started as soon as it can be, for a day
 *   (`attempt.ts`);
 * - ended after the mark: it may have gone out. It stays `unknown` and charged, and nobody tries again.
 *
 * A retry with the same key finds the reservation in the same unit of work that would have made it, so that concurrent
 * ones come to one attempt; it never resumes one.
 */
export interface SendDeps extends HandOverDeps {
  readonly uploads: BlobUploads;
  readonly clock: Clock;
  /** Where messages are delivered from here, as soon as they are on disk; null where a relay takes them. */
  readonly deliveries: DeliveryQueue | null;
  /** Messages for the relay; `isReady` is false while it cannot take any. */
  readonly queue: WorkQueue<RelayWork> & { readonly isReady: boolean };
  readonly quota: QuotaDeps;
  /** The line that names the service. */
  readonly attribution: string;
  /** False when the relay gives messages a Message-ID of its own. */
  readonly keepsMessageIds: boolean;
}

/**
 * Sends a message, or finds the attempt that its idempotency key stands for. Resolves when the outcome is known, or
 * with `unknown` after the response timeout.
 */
export function submitSend(deps: SendDeps, recipe: Recipe): Promise<SendReceipt> {
  const { hand } = recipe;
  // The recipe holds files: nothing keeps it while the request waits for the outcome.
  return reserveNew(deps, recipe).then(sent => {
    hand?.letGo();
    return 'record' in sent ? handOver(deps, sent) : sent;
  });
}

/** A new attempt, on disk, or the receipt of the existing one. */
function reserveNew(deps: SendDeps, recipe: Recipe): Promise<SendReceipt | Reserved> {
  const look = (): SendReceipt | null => deps.store.read(reader => findAttempt(reader, deps, recipe));
  return findOrMake<SendReceipt | Reserved>(look, async () => {
    const inbox = deps.store.read(reader => locateInbox(reader, recipe, recipe.inboxId));
    deps.store.read(reader => checkResumed(reader, recipe));
    deps.store.read(reader => checkStorage(reader, deps.quota.limits, inbox.accountId, 0));
    const content = await deriveContent(deps, recipe, inbox);
    return reserve(deps, recipe, inbox, content);
  });
}

/**
 * The existing attempt, which answers a retry; null when there is none. Checks ownership, permission and replay, in
 * this order.
 */
function findAttempt(reader: Reader, { clock }: Pick<SendDeps, 'clock'>, recipe: Recipe): SendReceipt | null {
  locateInbox(reader, recipe, recipe.inboxId);
  checkPermitted(reader, recipe, 'send');
  const made: MadeOnce<SendReceipt> = { what: 'message', find: id => attemptOf(reader, id as MessageId) };
  return replay(reader, recipe.retry, clock, made) ?? recipe.draft?.attempt(reader) ?? null;
}

/** The receipt of an attempt as it stands; null when its sent copy has been deleted. */
export function attemptOf(reader: Reader, id: MessageId): SendReceipt | null {
  const record = getSent(reader, id);
  if (record === undefined || record.trash !== null) return null;
  return { limited: false, message: viewSent(withShownThread(reader, record)), outcome_persisted: true };
}

/** Checks state, rules and size, in this order; a send that is not allowed is not derived. */
async function deriveContent(
  { store }: Pick<SendDeps, 'store'>,
  recipe: Recipe,
  inbox: InboxRecord,
): Promise<OutgoingContent> {
  const { recipients, body } = await recipe.derive(inbox);
  store.read(reader => checkSendingPolicy(reader, inbox.id, addressesOf(recipients)));
  const derived = await body();
  checkContentSize(derived);
  return { ...derived, recipients };
}

/** Checks the draft, storage, rules and allowance: before bytes are stored, and again in the unit that reserves. */
function admit(
  reader: Reader,
  { quota }: Pick<SendDeps, 'quota'>,
  recipe: Recipe,
  inbox: InboxRecord,
  { recipients, text, html, files }: OutgoingContent,
  nowMs: number,
): void {
  recipe.draft?.admit(reader);
  checkResumed(reader, recipe);
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, text.length + (html?.length ?? 0));
  checkStorage(reader, quota.limits, inbox.accountId, bytes);
  checkSendingPolicy(reader, inbox.id, addressesOf(recipients));
  checkQuota(reader, quota, inbox.accountId, recipientCount(recipients), nowMs);
}

/** Composes the message and puts the reservation on disk. A refused send leaves nothing behind. */
async function reserve(
  deps: SendDeps,
  recipe: Recipe,
  inbox: InboxRecord,
  bare: OutgoingContent,
): Promise<SendReceipt | Reserved> {
  const length = bare.text.length + (bare.html?.length ?? 0);
  await pauseIfLong(length);
  const content = await withAttribution(bare, deps.attribution);
  await pauseIfLong(length);
  const excerpt = await inSlices(sentExcerpt(bare.subject, bare.text));
  const nowMs = deps.clock();
  const setBackMs = deps.clock.setBackMs ?? 0;
  const id = newId<MessageId>(nowMs);
  const from = senderOf(inbox);
  const mentionsItself = !deps.keepsMessageIds && content.replyTarget === null;
  const facts = { id, messageId: `${id}@${inbox.domain}`, from, date: nowMs, mentionsItself };
  const composed = await composeOutgoing(content, facts);
  const message = (await deps.deliveries?.signer?.sign(composed, from.address)) ?? composed;
  deps.store.read(reader => admit(reader, deps, recipe, inbox, bare, nowMs));
  if (deps.deliveries === null && !deps.queue.isReady) throw unavailable(recipe);
  if (!deps.store.room.hasRoomFor(2 * message.length)) throw new NoRoomError();

  return withUploads(deps.uploads, async uploads => {
    await pauseIfLong(message.length);
    await uploadContent(uploads, content);
    const words = joinWords(await inSlices(messageWords(content)));
    const isDelivered = deps.deliveries !== null;
    if (isDelivered) await uploadTransmitted(uploads, message);
    return await deps.store.write(writer => {
      const receipt = findAttempt(writer, deps, recipe);
      if (receipt !== null) return receipt;
      admit(writer, deps, recipe, inbox, bare, nowMs);
      recipe.draft?.submit(writer, id, nowMs);
      const reservation = { recipe, inbox, content, facts, setBackMs, excerpt, uploads, words, isDelivered };
      return { ...reserveSend(writer, reservation), message, keyed: keep(writer, recipe.retry, id, nowMs) };
    });
  });
}

function unavailable({ draft }: Recipe, why = 'Sending is not possible at the moment'): Refusal {
  return refuse(
    draft === undefined ? 'outbound_unavailable' : 'draft_unavailable',
    `${why}: nothing was sent or charged, and the key is unused. Try again in a while.`,
  );
}

/**
 * After a restore the keys of what was sent since the backup are forgotten: a retry would send it a second time. So
 * nothing new is sent until an admin says so (`usecases/upkeep/restore.ts`).
 */
function checkResumed(reader: Reader, recipe: Recipe): void {
  if (!isHeldAfterRestore(reader)) return;
  throw unavailable(
    recipe,
    'This service was restored from a backup, and its operator has not let it send again yet',
  );
}

/** An attempt that is on disk, and its message for the relay. */
export interface Reserved extends ReservedSend {
  readonly message: Uint8Array;
  /** The part of the receipt that concerns its key. */
  readonly keyed: Keyed;
}

/** Where deliveries go once they are on disk. */
export interface DeliveryQueue {
  readonly queue: WorkQueue<DeliveryRecord>;
  /** Signs messages before they are stored; null leaves them as they are. */
  readonly signer: MailSigner | null;
}

export interface HandOverDeps {
  readonly store: Store;
  readonly inFlight: SendsInFlight;
  readonly queue: WorkQueue<RelayWork>;
  readonly deliveries: DeliveryQueue | null;
  /** How long a request waits for the outcome. */
  readonly responseTimeoutMs: number;
}

/**
 * Offers a reserved message to the relay and waits for its outcome; without one it answers with the saved state. No
 * function here is async, because an async function keeps its arguments while it waits: only the record of the message
 * stays in memory, and its bytes as far as `SendsInFlight` has room for them.
 */
function handOver(deps: HandOverDeps, reserved: Reserved): Promise<SendReceipt> {
  const { record, message, keyed, deliveries } = reserved;
  const { store, inFlight, queue, responseTimeoutMs } = deps;
  const { id, attempt } = record;
  deps.deliveries?.queue.offer(deliveries);
  if (attempt === 'settled') return Promise.resolve(receiptOf(store, record, keyed, null));
  const outcome = inFlight.hold(id, message, responseTimeoutMs);
  queue.offer([record]);
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
