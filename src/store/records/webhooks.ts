import type { EventType } from '../../contract/events.js';
import type { HookReason } from '../../contract/webhooks.js';
import {
  type AccountId,
  type EventId,
  type InboxId,
  idFromBytes,
  idToBytes,
  type WebhookId,
} from '../../domain/ids.js';
import { joinKey, range, u48, WHOLE_TABLE } from '../engine/keys.js';
import { bytesKey, jsonValue, noValue, type Reader, type Table, type Writer } from '../engine/tables.js';

/*
 * Endpoints that are told of what happens in an account. The truth of who has been told what is here: an endpoint has a
 * place in the feed (`events.ts`), all events before which are settled, but for those that have a record of their own
 * because they are to be tried again. What is under way stands behind the place, so that it is told once more when the
 * process ends.
 */

export interface WebhookSecret {
  /** `whsec_` and base64, as Standard Webhooks writes it. */
  readonly secret: string;
  /** It signs until then; null for the newest. */
  readonly until: number | null;
}

/** How the last try with an endpoint ended; `reason` is null when it took the event. */
export interface LastTry {
  readonly at: number;
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;
  readonly reason: HookReason | null;
}

/** Events that are kept no longer were never told: the endpoint is to hear of that before all else. */
export interface Gap {
  /** Of the event that says so. */
  readonly id: EventId;
  /** The first and the last sequence that are missing. */
  readonly from: number;
  readonly to: number;
  /** When it was found. */
  readonly at: number;
  readonly attempts: number;
  readonly nextAt: number;
}

/** Why nothing is told: somebody asked for it, the endpoint answered 410, or it took nothing for days. */
export type DisabledReason = 'requested' | 'gone' | 'dead';

export interface WebhookRecord {
  readonly id: WebhookId;
  readonly accountId: AccountId;
  readonly url: string;
  /** Told of these alone; of all when there are none. */
  readonly types: readonly EventType[];
  readonly inboxIds: readonly InboxId[];
  readonly createdAt: number;
  /** The newest first; two at most. */
  readonly secrets: readonly WebhookSecret[];
  readonly disabled: { readonly reason: DisabledReason; readonly at: number } | null;
  /** Raised when somebody sets the place or the retries: whoever is at work by an earlier one leaves them alone. */
  readonly revision: number;
  /** Sequence of the last event of which all before, and itself, are settled or to be tried again. */
  readonly place: number;
  readonly gap: Gap | null;
  /** Events that are to be tried again. */
  readonly open: number;
  /** When the first of them is; null when there is none. */
  readonly dueAt: number | null;
  /** The endpoint asked not to be called before then. */
  readonly restUntil: number | null;
  /** First failure since the last success; null when the last try was one. */
  readonly failingSince: number | null;
  /** Failures since the last success. */
  readonly failures: number;
  readonly last: LastTry | null;
  /** Outcomes that were noted so far. */
  readonly outcomes: number;
}

export const webhooksTable: Table<WebhookId, WebhookRecord> = {
  name: 'webhooks',
  encodeKey: idToBytes,
  ...jsonValue<WebhookRecord>(1),
};

/** [account, webhook]: the webhooks of an account. */
export const accountWebhooksTable: Table<Buffer, true> = {
  name: 'account_webhooks',
  encodeKey: bytesKey,
  ...noValue,
};

/** An event that an endpoint has not taken and that is tried again. */
export interface RetryRecord {
  readonly eventId: EventId;
  readonly type: EventType;
  readonly firstAt: number;
  readonly attempts: number;
  readonly nextAt: number;
  readonly last: LastTry;
}

interface OfWebhook {
  readonly id: WebhookId;
  readonly number: number;
}

const keyOfWebhook = ({ id, number }: OfWebhook): Buffer => joinKey(idToBytes(id), u48(number));

/** [webhook, sequence of the event] -> what is to be tried again. */
export const webhookRetriesTable: Table<OfWebhook, RetryRecord> = {
  name: 'webhook_retries',
  encodeKey: keyOfWebhook,
  ...jsonValue<RetryRecord>(1),
};

/** How it ended with an event. */
export interface OutcomeRecord {
  readonly eventId: EventId;
  /** Of the event; of the last one that is missing for `feed.gap`. */
  readonly sequence: number;
  readonly type: EventType | 'feed.gap';
  readonly state: 'delivered' | 'failed';
  readonly firstAt: number;
  readonly attempts: number;
  readonly last: LastTry;
}

/** [webhook, number of the outcome] -> outcome; the newest `MAX_OUTCOMES`. */
export const webhookOutcomesTable: Table<OfWebhook, OutcomeRecord> = {
  name: 'webhook_outcomes',
  encodeKey: keyOfWebhook,
  ...jsonValue<OutcomeRecord>(1),
};

/** Outcomes that are kept of each endpoint. */
export const MAX_OUTCOMES = 100;
/** More events than an endpoint can have that are to be tried again. */
const MOST_RETRIES = 10_000;

export function getWebhook(reader: Reader, id: WebhookId): WebhookRecord | undefined {
  return reader.get(webhooksTable, id);
}

/** A new webhook, or a new version of one. */
export function putWebhook(writer: Writer, record: WebhookRecord): void {
  const key = joinKey(idToBytes(record.accountId), idToBytes(record.id));
  if (!writer.has(accountWebhooksTable, key)) writer.put(accountWebhooksTable, key, true);
  writer.put(webhooksTable, record.id, record);
}

/** Removes a webhook with all that is known of it: some hundred records at most. */
export function removeWebhook(writer: Writer, { id, accountId }: WebhookRecord): void {
  const every = { ...range(idToBytes(id)), limit: MOST_RETRIES };
  for (const key of writer.scanKeys(webhookRetriesTable, every)) {
    writer.remove(webhookRetriesTable, ofKey(key));
  }
  for (const key of writer.scanKeys(webhookOutcomesTable, every)) {
    writer.remove(webhookOutcomesTable, ofKey(key));
  }
  writer.remove(accountWebhooksTable, joinKey(idToBytes(accountId), idToBytes(id)));
  writer.remove(webhooksTable, id);
}

function ofKey(key: Buffer): OfWebhook {
  return { id: idFromBytes<WebhookId>(key), number: key.readUIntBE(16, 6) };
}

/** Ids of the webhooks of an account, in the order in which they were made. */
export function webhookIdsOf(reader: Reader, accountId: AccountId, limit: number): WebhookId[] {
  return reader
    .scanKeys(accountWebhooksTable, { ...range(idToBytes(accountId)), limit })
    .map(key => idFromBytes<WebhookId>(key, 16));
}

export function listWebhooks(reader: Reader, accountId: AccountId, limit: number): WebhookRecord[] {
  return webhookIdsOf(reader, accountId, limit).flatMap(id => getWebhook(reader, id) ?? []);
}

/** All webhooks, in the order in which they were made, those after a key. */
export function scanWebhooks(
  reader: Reader,
  after: Buffer | null,
  limit: number,
): { readonly key: Buffer; readonly value: WebhookRecord }[] {
  return reader.scan(webhooksTable, { ...range(WHOLE_TABLE, after), limit });
}

export type StoredRetry = RetryRecord & { readonly sequence: number };

/** What an endpoint is to be told again, in the order of the feed. */
export function retriesOf(reader: Reader, id: WebhookId): StoredRetry[] {
  return reader
    .scan(webhookRetriesTable, { ...range(idToBytes(id)), limit: MOST_RETRIES })
    .map(({ key, value }) => ({ sequence: ofKey(key).number, ...value }));
}

export function putRetry(writer: Writer, id: WebhookId, { sequence, ...record }: StoredRetry): void {
  writer.put(webhookRetriesTable, { id, number: sequence }, record);
}

export function removeRetry(writer: Writer, id: WebhookId, sequence: number): void {
  writer.remove(webhookRetriesTable, { id, number: sequence });
}

/**
 * Notes how it ended with an event and forgets the oldest outcome beyond `MAX_OUTCOMES`.
 * @returns the webhook, which counts it; to be put by the caller
 */
export function noteOutcome(writer: Writer, webhook: WebhookRecord, outcome: OutcomeRecord): WebhookRecord {
  const { id, outcomes } = webhook;
  writer.put(webhookOutcomesTable, { id, number: outcomes }, outcome);
  if (outcomes >= MAX_OUTCOMES) {
    writer.remove(webhookOutcomesTable, { id, number: outcomes - MAX_OUTCOMES });
  }
  return { ...webhook, outcomes: outcomes + 1 };
}

/** The outcomes that are kept, the newest first. */
export function outcomesOf(reader: Reader, id: WebhookId): OutcomeRecord[] {
  const newest = { ...range(idToBytes(id)), reverse: true, limit: MAX_OUTCOMES };
  return reader.scan(webhookOutcomesTable, newest).map(({ value }) => value);
}
