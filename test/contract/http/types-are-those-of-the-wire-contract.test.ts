import t from 'tap';
import { SchemaBook } from '../../../src/contract/schema-book.js';
import type { Json } from '../../support/contract/contract-schemas.js';
import { notationOf } from '../../support/contract/schema-notation.js';
import { allSchemas } from './all-schemas.js';

/*
 * The types that clients have been promised, written down by hand and apart from src/contract, so that no change of
 * the code changes the promise unseen. Notation: `notationOf` of test/support/contract/schema-notation.ts.
 */
const UUID = '/^[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}$/';
const FILENAME = 'string [>=1, <=255B]';
const MEDIA_TYPE = 'string [<=127, /^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$/]';
const FILE = `filename: ${FILENAME}, type: ${MEDIA_TYPE}, content: string [/^[A-Za-z0-9+/]*={0,2}$/]`;
const FILES = 'attachments?: (AttachmentInput | AttachmentOfUpload | AttachmentOfMessage)[<=32] | null';
const INBOX =
  'id: Id, local_part: string, address: string, name: string | null, sender_name: string | null, created_at: Ts';
const KEYED = 'replayed?: boolean, idempotency_expires_at?: Ts';
const CHANGE = 'add_labels?: Label[<=32], remove_labels?: Label[<=32]';
const RECEIVED =
  'id: Id, inbox_id: Id, thread_id: Id | null, envelope_from: string, envelope_to: string, subject: string | null, received_at: Ts, labels: string[]';
const DETAIL = `${RECEIVED}, message_id: string | null, raw_size: Count, processed_at: Ts | null`;
const PREVIEW = 'preview?: Preview | null';
const READY = 'processing_status: "ready"';
const OTHERS = 'processing_status: "pending" | "processing" | "failed"';
const AUTHENTICATION = 'authentication?: MessageAuthentication';
const SENT =
  'id: Id, inbox_id: Id, created_at: Ts, recipient_count: Count, status: "accepted" | "rejected" | "unknown", provider_message_id: string | null, error_code: string | null, thread_id: Id | null, in_reply_to: Id | null, labels: string[]';
const SUBMISSION =
  'from: Mailbox, to: Mailbox[], cc: Mailbox[], bcc: Mailbox[], subject: string, text: string, html?: string, headers?: {In-Reply-To: string, References: string}';
const SEND_END = `${FILES}, in_reply_to?: MsgRef, labels?: Label[<=32], idempotency_key?: Key`;
const DRAFT =
  'id: Id, inbox_id: Id, state: "draft" | "submitted", subject: string, created_at: Ts, updated_at: Ts, sent_message_id: Id | null';
const DRAFT_INPUT = `to?: Mailbox[<=50], cc?: Mailbox[<=50], bcc?: Mailbox[<=50], subject?: string [<=998B], text?: string, html?: string | null, ${FILES}, in_reply_to?: MsgRef | null, labels?: Label[<=32]`;
const THREAD =
  'id: Id, inbox_id: Id, subject: string | null, last_activity_at: Ts, message_count: Count, received_count: Count, accepted_count: Count, rejected_count: Count, unknown_count: Count';
const MEMBERS = 'message_count: Count, received_count: Count, sent_count: Count';
const TRASH = 'id: Id, inbox_id: Id, subject: string | null, deleted_at: Ts, restorable_until: Ts';
const EVENT = 'id: Id, sequence: Count, created_at: Ts, inbox_id: Id';
const EVENT_TYPES =
  '"message.received" | "message.failed" | "send.outcome" | "delivery.changed" | "thread.merged" | "inbox.created" | "inbox.deleted" | "trash.moved" | "trash.restored" | "trash.purged"';
const REASON =
  '"status" | "redirect" | "gone" | "timeout" | "unknown_host" | "address_refused" | "unreachable" | "tls" | "no_answer" | null';
const LAST_ATTEMPT = `{at: Ts, status: Count | null, reason: ${REASON}}`;
const WEBHOOK = `id: Id, url: string, types: (${EVENT_TYPES})[], inbox_ids: Id[], status: "enabled" | "disabled", disabled_reason: "requested" | "gone" | "dead" | null, created_at: Ts, sequence: Count, waiting: Count, failing_since: Ts | null, last_attempt: ${LAST_ATTEMPT} | null, secrets: {expires_at: Ts | null}[]`;
const DELETED = '{id: Id, status: "deletion_pending", message: string}';

const WIRE: Readonly<Record<string, string>> = {
  Id: 'string',
  Ts: 'string [/^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$/]',
  Key: 'string [/^[A-Za-z0-9_-]{1,128}$/]',
  MsgRef: 'string [/^[a-f0-9-]{36}$/]',
  Name: 'string [<=256B]',
  Label: 'string [<=128B, /\\S/]',
  Count: 'integer',
  Error: '{error: {code: string, message: string}}',
  InboxError:
    '{error: {code: string, message: string, details?: {allowance: InboxAllowance, increase_request: string, policy_url: string}}}',
  QuotaError:
    '{error: {code: "outbound_limit_reached", message: string}, quota: Quota, requested_recipients: Count, reason: "temporary_exhaustion" | "message_exceeds_allowance", sufficient_capacity_at: Ts | null, guidance: string}',
  InboxAllowance: '{allowance: Count, used: Count, remaining: Count, unit: "inbox_slots"}',
  Inbox: `{${INBOX}}`,
  InboxList: '{inboxes: Inbox[], inbox_limit: Count, inbox_allowance: InboxAllowance}',
  CreatedInbox: `{${INBOX}, ${KEYED}}`,
  CreateInbox:
    'strict {local_part: string [/^\\s*[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?\\s*$/], domain?: string | null, name?: Name | null, sender_name?: Name | null, idempotency_key?: Key}',
  UpdateInbox: 'strict {name?: Name | null, sender_name?: Name | null} [>=1]',
  Deleted: DELETED,
  Policy:
    '{inbox_id: Id, enabled: boolean, addresses: string[<=100], domains: string[<=100], revision: Count}',
  ParsedAddress: '{name: string, address: string} | {name: string, group: {name: string, address: string}[]}',
  Preview: '{text: string [<=300], truncated: boolean, source: "reply_text" | "text" | "html"}',
  ReceivedSummary: `{${RECEIVED}, ${READY}, from: ParsedAddress | null, ${PREVIEW}} | {${RECEIVED}, ${OTHERS}, ${PREVIEW}}`,
  ReceivedDetail: `{${DETAIL}, ${READY}, content: ReceivedContent, ${AUTHENTICATION}} | {${DETAIL}, ${OTHERS}, ${AUTHENTICATION}}`,
  MessageAuthentication:
    '{verdict: "pass" | "fail" | "none" | "unknown", reason: string, local: boolean, from_domain: string | null, spf: {result: "pass" | "fail" | "softfail" | "neutral" | "none" | "temperror" | "permerror", domain: string | null, aligned: boolean}, dkim: {domain: string, selector: string, algorithm: string, result: "pass" | "fail" | "neutral" | "none" | "policy" | "temperror" | "permerror", aligned: boolean}[], dmarc: {result: "pass" | "fail" | "none" | "temperror" | "permerror", policy: "none" | "quarantine" | "reject" | null, aligned_by: ("spf" | "dkim")[]}, arc: {result: "pass" | "fail" | "none" | "temperror", sealer: string | null, trusted: boolean, dmarc: "pass" | "fail" | "none" | "temperror" | "permerror" | null}, iprev: {result: "pass" | "fail" | "none" | "temperror", name: string | null}}',
  ReceivedContent:
    '{from: ParsedAddress | null, sender: ParsedAddress | null, reply_to: ParsedAddress[], to: ParsedAddress[], cc: ParsedAddress[], bcc: ParsedAddress[], subject: string | null, message_id: string | null, in_reply_to: string | null, references: string | null, date: string | null, reply_text: string | null, text: string | null, html: string | null, attachments: ReceivedAttachment[]}',
  ReceivedAttachment:
    '{id: string, filename: string | null, size: Count, mime_type: string, disposition: string | null, content_id: string | null, related: boolean}',
  LabelChange: `strict {${CHANGE}}`,
  BulkLabelChange: `strict {message_ids: (string [${UUID}])[>=1, <=100], ${CHANGE}}`,
  LabelResult: '{id: Id, labels: string[]}',
  LabelList:
    '{labels: {name: string, received_count: Count, sent_count: Count}[], next_cursor: string | null}',
  Mailbox: 'strict {address: string [<=254], name?: Name}',
  AttachmentInput: `strict {${FILE}}`,
  AttachmentOfUpload: `strict {filename: ${FILENAME}, type: ${MEDIA_TYPE}, upload_id: Id}`,
  AttachmentOfMessage: `strict {message_id: Id, attachment_id: string, filename?: ${FILENAME}, type?: ${MEDIA_TYPE}}`,
  Upload: '{upload_id: Id, size: Count, sha256: string [/^[a-f0-9]{64}$/], expires_at: Ts}',
  StoredAttachment: `{${FILE}, disposition: "attachment" | "inline", contentId?: string}`,
  SendInput: `strict {to: Mailbox[>=1, <=50], cc?: Mailbox[<=50], bcc?: Mailbox[<=50], subject: string [<=998B, /\\S/], text: string [/\\S/], html?: string, ${SEND_END}}`,
  ReplyInput: `strict {message_id: MsgRef, text: string [/\\S/], html?: string, ${FILES}, labels?: Label[<=32], idempotency_key?: Key}`,
  ForwardInput:
    'strict {message_id: MsgRef, to: Mailbox[>=1, <=50], cc?: Mailbox[<=50], bcc?: Mailbox[<=50], note?: string, include_attachments?: boolean, labels?: Label[<=32], idempotency_key?: Key}',
  SentMetadata: `{${SENT}}`,
  SentSummary: `{${SENT}, ${PREVIEW}}`,
  SentDetail: `{${SENT}, reply_text: string | null, submission: Submission}`,
  Submission: `{${SUBMISSION}, attachments: StoredAttachment[]}`,
  SendReceipt: `{limited: false, message: SentMetadata, outcome_persisted: boolean, ${AUTHENTICATION}, ${KEYED}}`,
  Quota:
    '{allowance: Count, used: Count, remaining: Count, next_capacity_at: Ts | null, next_capacity_amount: Count, window_hours: 24, unit: "recipient_deliveries", increase_request: string, policy_url: string}',
  DraftMetadata: `{${DRAFT}}`,
  CreatedDraft: `{${DRAFT}, ${KEYED}}`,
  CreateDraft: `strict {${DRAFT_INPUT}, source?: strict {action: "reply" | "reply-all", message_id: MsgRef} | strict {action: "forward", message_id: MsgRef, include_attachments?: boolean}, idempotency_key?: Key}`,
  UpdateDraft: `strict {${DRAFT_INPUT}} [>=1]`,
  DraftDetail: `{${DRAFT}, from: Mailbox, content: DraftContent}`,
  DraftContent:
    '{to: Mailbox[], cc: Mailbox[], bcc: Mailbox[], subject: string, text: string, attachments: StoredAttachment[], html?: string, in_reply_to?: Id, labels?: string[]}',
  DeletedDraft: DELETED,
  SendDraft: 'strict {idempotency_key?: Key}',
  ThreadSummary: `{${THREAD}, latest_message: ThreadLatestMessage, matching_message_ids?: string[<=100], matching_message_count?: Count}`,
  ThreadLatestMessage: `{id: Id, direction: "received", counterpart: ParsedAddress | null, ${PREVIEW}} | {id: Id, direction: "sent", counterpart: Mailbox | null, ${PREVIEW}}`,
  ThreadDetail: `{${THREAD}, messages: (ThreadReceivedDetail | ThreadSentDetail)[], next_cursor: string | null}`,
  ThreadReceivedDetail: `{${DETAIL}, direction: "received", timestamp: Ts, ${READY}, content: ReceivedContent} | {${DETAIL}, direction: "received", timestamp: Ts, ${OTHERS}}`,
  ThreadSentDetail: `{${SENT}, direction: "sent", timestamp: Ts, reply_text: string | null, submission: {${SUBMISSION}, attachments: {id: string, filename: string, mime_type: string, size: Count}[]}}`,
  ThreadLabelResult: `{id: Id, inbox_id: Id, ${MEMBERS}, add_labels: string[], remove_labels: string[]}`,
  DeletedThread: `{id: Id, inbox_id: Id, ${MEMBERS}, status: "deletion_pending", message: string}`,
  TrashEntry: `{${TRASH}, kind: "received", from: ParsedAddress | null, envelope_from: string} | {${TRASH}, kind: "sent", to: Mailbox[]}`,
  Deliveries: '{message_id: Id, deliveries: Delivery[]}',
  Delivery:
    '{recipient: string, state: "queued" | "sending" | "delivered" | "failed" | "unknown" | "cancelled", attempts: Count, updated_at: Ts, next_attempt_at: Ts | null, host: string | null, tls: string | null, code: string | null, reply: string | null}',
  Restored:
    '{id: Id, inbox_id: Id, thread_id: Id | null, status: "restored" | "already_live", message: string}',
  Event: [
    `{${EVENT}, type: "message.received", message_id: Id, thread_id: Id | null, summary: ReceivedSummary | null}`,
    `{${EVENT}, type: "message.failed", message_id: Id, summary: ReceivedSummary | null}`,
    `{${EVENT}, type: "send.outcome", message_id: Id, thread_id: Id | null, summary: SentMetadata | null}`,
    `{${EVENT}, type: "delivery.changed", message_id: Id, delivery_id: Id, summary: Delivery[] | null}`,
    `{${EVENT}, type: "thread.merged", thread_id: Id, merged_thread_id: Id, summary: null}`,
    `{${EVENT}, type: "inbox.created" | "inbox.deleted", summary: Inbox | null}`,
    `{${EVENT}, type: "trash.moved" | "trash.restored" | "trash.purged", message_id: Id, kind: "received" | "sent", summary: ReceivedSummary | SentMetadata | null}`,
  ].join(' | '),
  Webhook: `{${WEBHOOK}}`,
  WebhookWithSecret: `{${WEBHOOK}, secret: string}`,
  WebhookList: '{webhooks: Webhook[]}',
  CreateWebhook: `strict {url: string [<=2048], types?: (${EVENT_TYPES})[<=10], inbox_ids?: string[<=100]}`,
  UpdateWebhook: `strict {url?: string [<=2048], types?: (${EVENT_TYPES})[<=10], inbox_ids?: string[<=100], enabled?: boolean} [>=1]`,
  WebhookTest: `{id: Id, status: Count | null, reason: ${REASON}}`,
  WebhookDelivery: `{event_id: Id, sequence: Count, type: ${EVENT_TYPES} | "feed.gap", state: "waiting" | "delivered" | "failed", attempts: Count, first_attempt_at: Ts, last_attempt: ${LAST_ATTEMPT}, next_attempt_at: Ts | null}`,
  WebhookDeliveries: '{webhook_id: Id, deliveries: WebhookDelivery[]}',
  ReplayWebhook: 'strict {after: string}',
  Trashed:
    '{id: Id, inbox_id: Id, status: "trashed" | "already_trashed", deleted_at: Ts, restorable_until: Ts}',
  SignupInput: 'strict {}',
  SignupResult: '{status: "awaiting_human", approval_url: string, message: string}',
  ClaimInput: 'strict {phrase: string, discovery_source?: unknown, intended_use?: unknown}',
  ClaimResult: '{account_id: Id, credential: string, token_type: "Bearer", message: string}',
  FeedbackInput: 'strict {title?: string [<=200B], body: string [/\\S/]}',
  FeedbackResult: '{id: Id, status: "received"}',
};

t.test(
  'each named type has the members and bounds of the contract; none is missing, none is more',
  async t => {
    const book = new SchemaBook();
    for (const [, schema] of await allSchemas()) book.add(schema);
    const ours = Object.entries(book.components()).map(([name, schema]) => [
      name,
      notationOf(schema as Json),
    ]);
    t.strictSame(Object.fromEntries(ours), Object.fromEntries(Object.entries(WIRE).sort()));
  },
);
