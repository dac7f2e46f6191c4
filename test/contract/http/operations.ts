import type { Tag } from '../../../src/contract/operation.js';

/**
 * What clients have been promised of each operation, written down by hand and apart from src/contract, so that no
 * change of the code changes the promise unseen. J, U, N, I and W are short for codes that many rows have (`SHORT`
 * below); types are written as `notationOf` of test/support/contract/schema-notation.ts writes them.
 */
export interface Row {
  readonly operationId: string;
  readonly route: string;
  readonly tag: Tag;
  /** Query parameters. */
  readonly query?: string;
  /** Type and size in bytes of the body; the media type of one that is no JSON. */
  readonly body?: string;
  /** What answers that are no errors hold, by status. */
  readonly success: Readonly<Record<number, string>>;
  /** Successes name their resource. */
  readonly hasLocation?: true;
  readonly errors: string;
}

const PAGE = 'limit cursor';
const SEARCH = 'query from recipient subject after before labels_all labels_any labels_none';

/** A page of a list. */
const page = (member: string, type: string) => ({
  200: `{${member}: ${type}[], next_cursor: string | null}`,
});

/** What a keyed creation answers: the first time, and to a matching retry. */
const keyed = (type: string) => ({
  201: `${type} & {replayed?: false}`,
  200: `${type} & {replayed: true, idempotency_expires_at: Ts}`,
});

const SEND_ERRORS = `storage_limit_reached invalid_message invalid_name invalid_labels invalid_idempotency_key J U operation_not_allowed
  recipient_not_allowed N reply_not_ready idempotency_conflict idempotency_result_unavailable message_too_large
  outbound_limit_reached content_unavailable outbound_unavailable`;

const INBOXES: readonly Row[] = [
  {
    operationId: 'listInboxes',
    route: 'GET /v1/inboxes',
    tag: 'inboxes',
    success: { 200: 'InboxList' },
    errors: 'U N I',
  },
  {
    operationId: 'createInbox',
    route: 'POST /v1/inboxes',
    tag: 'inboxes',
    body: 'CreateInbox 4096',
    success: keyed('CreatedInbox'),
    hasLocation: true,
    errors: `rate_limited invalid_inbox invalid_local_part invalid_name invalid_idempotency_key J U N address_unavailable
      inbox_limit_reached idempotency_conflict idempotency_result_unavailable I W`,
  },
  {
    operationId: 'getInbox',
    route: 'GET /v1/inboxes/{inbox_id}',
    tag: 'inboxes',
    success: { 200: 'Inbox' },
    errors: 'U N I',
  },
  {
    operationId: 'updateInbox',
    route: 'PATCH /v1/inboxes/{inbox_id}',
    tag: 'inboxes',
    body: 'UpdateInbox 4096',
    success: { 200: 'Inbox' },
    errors: 'invalid_inbox invalid_name J U N I W',
  },
  {
    operationId: 'deleteInbox',
    route: 'DELETE /v1/inboxes/{inbox_id}',
    tag: 'inboxes',
    success: { 202: 'Deleted' },
    errors: 'U operation_not_allowed N protected_inbox I W',
  },
  {
    operationId: 'getSendingPolicy',
    route: 'GET /v1/inboxes/{inbox_id}/sending-policy',
    tag: 'inboxes',
    success: { 200: 'Policy' },
    errors: 'U N I',
  },
  {
    operationId: 'getReceivingPolicy',
    route: 'GET /v1/inboxes/{inbox_id}/receiving-policy',
    tag: 'inboxes',
    success: { 200: 'Policy' },
    errors: 'U N I',
  },
];

const RECEIVED: readonly Row[] = [
  {
    operationId: 'listMessages',
    route: 'GET /v1/inboxes/{inbox_id}/messages',
    tag: 'messages',
    query: `${PAGE} ${SEARCH} order include authentication wait since`,
    success: { 200: '{messages: ReceivedSummary[], next_cursor: string | null, next_since?: string}' },
    errors:
      'invalid_limit invalid_cursor invalid_search invalid_labels content_unavailable cursor_expired rate_limited U N I',
  },
  {
    operationId: 'countMessages',
    route: 'GET /v1/inboxes/{inbox_id}/messages/count',
    tag: 'messages',
    query: `${SEARCH} authentication`,
    success: { 200: '{count: Count}' },
    errors: 'invalid_search invalid_labels U N I content_unavailable',
  },
  {
    operationId: 'getMessage',
    route: 'GET /v1/messages/{message_id}',
    tag: 'messages',
    query: 'include',
    success: { 200: 'ReceivedDetail' },
    errors: 'invalid_search U N I content_unavailable',
  },
  {
    operationId: 'deleteMessage',
    route: 'DELETE /v1/messages/{message_id}',
    tag: 'messages',
    success: { 202: 'Deleted' },
    errors: 'U operation_not_allowed N I W',
  },
  {
    operationId: 'updateMessageLabels',
    route: 'PATCH /v1/messages/{message_id}',
    tag: 'labels',
    body: 'LabelChange 20480',
    success: { 200: 'LabelResult' },
    errors: 'invalid_labels J U N I W',
  },
  {
    operationId: 'downloadRawMessage',
    route: 'GET /v1/messages/{message_id}/raw',
    tag: 'messages',
    success: { 200: 'message/rfc822' },
    errors: 'U N I content_unavailable',
  },
  {
    operationId: 'downloadAttachment',
    route: 'GET /v1/messages/{message_id}/attachments/{attachment_id}',
    tag: 'messages',
    success: { 200: 'application/octet-stream' },
    errors: 'U N I content_unavailable',
  },
];

const SENT_AND_LABELS: readonly Row[] = [
  {
    operationId: 'deleteSentMessage',
    route: 'DELETE /v1/sent/{message_id}',
    tag: 'sending',
    success: { 202: 'Deleted' },
    errors: 'U operation_not_allowed N I W',
  },
  {
    operationId: 'updateSentMessageLabels',
    route: 'PATCH /v1/sent/{message_id}',
    tag: 'labels',
    body: 'LabelChange 20480',
    success: { 200: 'LabelResult' },
    errors: 'invalid_labels J U N I W',
  },
  {
    operationId: 'getSentMessage',
    route: 'GET /v1/sent/{message_id}',
    tag: 'sending',
    success: { 200: 'SentDetail' },
    errors: 'invalid_search U N content_unavailable outbound_unavailable',
  },
  {
    operationId: 'listDeliveries',
    route: 'GET /v1/sent/{message_id}/deliveries',
    tag: 'sending',
    success: { 200: 'Deliveries' },
    errors: 'invalid_search U N outbound_unavailable',
  },
  {
    operationId: 'bulkUpdateMessageLabels',
    route: 'PATCH /v1/messages/labels',
    tag: 'labels',
    body: 'BulkLabelChange 32768',
    success: { 200: '{messages: LabelResult[]}' },
    errors: 'invalid_labels invalid_message_ids J U N I W',
  },
  {
    operationId: 'bulkUpdateSentLabels',
    route: 'PATCH /v1/sent/labels',
    tag: 'labels',
    body: 'BulkLabelChange 32768',
    success: { 200: '{messages: LabelResult[]}' },
    errors: 'invalid_labels invalid_message_ids J U N I W',
  },
  {
    operationId: 'listLabels',
    route: 'GET /v1/inboxes/{inbox_id}/labels',
    tag: 'labels',
    query: `${PAGE} prefix`,
    success: { 200: 'LabelList' },
    errors: 'invalid_limit invalid_cursor invalid_search invalid_labels U N I',
  },
];

const SENDING: readonly Row[] = [
  {
    operationId: 'sendMessage',
    route: 'POST /v1/inboxes/{inbox_id}/sent',
    tag: 'sending',
    body: 'SendInput 8388608',
    success: keyed('SendReceipt'),
    hasLocation: true,
    errors: `${SEND_ERRORS} reply_headers_unavailable`,
  },
  {
    operationId: 'listSentMessages',
    route: 'GET /v1/inboxes/{inbox_id}/sent',
    tag: 'sending',
    query: `${PAGE} ${SEARCH} order include`,
    success: page('messages', 'SentSummary'),
    errors:
      'invalid_limit invalid_cursor invalid_search invalid_labels U N outbound_unavailable content_unavailable',
  },
  ...(['replyMessage reply', 'replyAllMessage reply-all'] as const).map((names): Row => {
    const [operationId = '', path] = names.split(' ');
    return {
      operationId,
      route: `POST /v1/inboxes/{inbox_id}/${path}`,
      tag: 'sending',
      query: 'include',
      body: 'ReplyInput 8388608',
      success: keyed('SendReceipt'),
      hasLocation: true,
      errors: `${SEND_ERRORS} reply_headers_unavailable reply_recipients_unavailable`,
    };
  }),
  {
    operationId: 'forwardMessage',
    route: 'POST /v1/inboxes/{inbox_id}/forward',
    tag: 'sending',
    body: 'ForwardInput 8388608',
    success: keyed('SendReceipt'),
    hasLocation: true,
    errors: SEND_ERRORS,
  },
  {
    operationId: 'getOutboundQuota',
    route: 'GET /v1/outbound/quota',
    tag: 'sending',
    success: { 200: 'Quota' },
    errors: 'U N outbound_unavailable',
  },
];

const UPLOADS: readonly Row[] = [
  {
    operationId: 'createUpload',
    route: 'POST /v1/uploads',
    tag: 'sending',
    body: 'application/octet-stream 5242880',
    success: { 201: 'Upload' },
    errors: 'storage_limit_reached U body_too_large unsupported_media_type outbound_unavailable',
  },
  {
    operationId: 'deleteUpload',
    route: 'DELETE /v1/uploads/{upload_id}',
    tag: 'sending',
    success: { 202: 'Deleted' },
    errors: 'U N outbound_unavailable',
  },
];

const DRAFTS: readonly Row[] = [
  {
    operationId: 'createDraft',
    route: 'POST /v1/inboxes/{inbox_id}/drafts',
    tag: 'drafts',
    body: 'CreateDraft 8388608',
    success: keyed('CreatedDraft'),
    hasLocation: true,
    errors: `storage_limit_reached invalid_draft invalid_message invalid_name invalid_labels invalid_idempotency_key J U N
      idempotency_conflict idempotency_result_unavailable reply_not_ready reply_recipients_unavailable
      message_too_large content_unavailable draft_unavailable`,
  },
  {
    operationId: 'listDrafts',
    route: 'GET /v1/inboxes/{inbox_id}/drafts',
    tag: 'drafts',
    query: `${PAGE} state`,
    success: page('drafts', 'DraftMetadata'),
    errors: 'invalid_limit invalid_draft U N draft_unavailable',
  },
  {
    operationId: 'getDraft',
    route: 'GET /v1/drafts/{draft_id}',
    tag: 'drafts',
    success: { 200: 'DraftDetail' },
    errors: 'invalid_draft U N content_unavailable draft_unavailable',
  },
  {
    operationId: 'updateDraft',
    route: 'PATCH /v1/drafts/{draft_id}',
    tag: 'drafts',
    body: 'UpdateDraft 8388608',
    success: { 200: 'DraftMetadata' },
    errors: `storage_limit_reached invalid_draft invalid_message invalid_name invalid_labels J U N reply_not_ready draft_busy
      draft_submitted message_too_large content_unavailable draft_unavailable`,
  },
  {
    operationId: 'deleteDraft',
    route: 'DELETE /v1/drafts/{draft_id}',
    tag: 'drafts',
    success: { 202: 'DeletedDraft' },
    errors: 'U operation_not_allowed N draft_unavailable',
  },
  {
    operationId: 'sendDraft',
    route: 'POST /v1/drafts/{draft_id}/send',
    tag: 'drafts',
    body: 'SendDraft 4096',
    success: { 201: 'SendReceipt & {replayed?: false}', 200: 'SendReceipt & {replayed: true}' },
    hasLocation: true,
    errors: `storage_limit_reached invalid_message invalid_name invalid_labels invalid_idempotency_key invalid_draft J U
      operation_not_allowed recipient_not_allowed N reply_not_ready reply_headers_unavailable idempotency_conflict
      idempotency_result_unavailable draft_busy draft_result_unavailable message_too_large outbound_limit_reached
      content_unavailable draft_unavailable`,
  },
];

const THREADS: readonly Row[] = [
  {
    operationId: 'listThreads',
    route: 'GET /v1/inboxes/{inbox_id}/threads',
    tag: 'threads',
    query: `${PAGE} ${SEARCH} order include`,
    success: page('threads', 'ThreadSummary'),
    errors: 'invalid_limit invalid_cursor invalid_search invalid_labels U N I content_unavailable',
  },
  {
    operationId: 'getThread',
    route: 'GET /v1/threads/{thread_id}',
    tag: 'threads',
    query: PAGE,
    success: { 200: 'ThreadDetail' },
    errors: 'invalid_limit invalid_cursor invalid_search U N I content_unavailable',
  },
  {
    operationId: 'updateThreadLabels',
    route: 'PATCH /v1/threads/{thread_id}',
    tag: 'threads',
    body: 'LabelChange 20480',
    success: { 200: 'ThreadLabelResult' },
    errors: 'invalid_labels J U N I W',
  },
  {
    operationId: 'deleteThread',
    route: 'DELETE /v1/threads/{thread_id}',
    tag: 'threads',
    success: { 202: 'DeletedThread' },
    errors: 'U operation_not_allowed N I W',
  },
];

const TRASH: readonly Row[] = [
  {
    operationId: 'listTrash',
    route: 'GET /v1/inboxes/{inbox_id}/trash',
    tag: 'trash',
    query: PAGE,
    success: page('messages', 'TrashEntry'),
    errors: 'invalid_limit invalid_cursor invalid_search U N I content_unavailable',
  },
  ...(['trashMessage messages', 'trashSentMessage sent'] as const).map((names): Row => {
    const [operationId = '', kind] = names.split(' ');
    return {
      operationId,
      route: `POST /v1/${kind}/{message_id}/trash`,
      tag: 'trash',
      success: { 200: 'Trashed' },
      errors: 'U operation_not_allowed N I W',
    };
  }),
  ...(['restoreMessage messages', 'restoreSentMessage sent'] as const).map((names): Row => {
    const [operationId = '', kind] = names.split(' ');
    return {
      operationId,
      route: `POST /v1/${kind}/{message_id}/restore`,
      tag: 'trash',
      success: { 200: 'Restored' },
      errors: 'U operation_not_allowed N I W content_unavailable',
    };
  }),
];

const EVENTS: readonly Row[] = [
  {
    operationId: 'listEvents',
    route: 'GET /v1/events',
    tag: 'events',
    query: 'after limit wait types inbox_id',
    success: { 200: '{events: Event[], next_cursor: string}' },
    errors: 'invalid_cursor invalid_limit invalid_search cursor_expired rate_limited U N I',
  },
];

const WEBHOOKS: readonly Row[] = [
  {
    operationId: 'listWebhooks',
    route: 'GET /v1/webhooks',
    tag: 'webhooks',
    query: '',
    success: { 200: 'WebhookList' },
    errors: 'invalid_search U I',
  },
  {
    operationId: 'createWebhook',
    route: 'POST /v1/webhooks',
    tag: 'webhooks',
    body: 'CreateWebhook 16384',
    success: { 201: 'WebhookWithSecret' },
    hasLocation: true,
    errors: 'invalid_webhook webhook_limit_reached rate_limited J U N I W',
  },
  {
    operationId: 'getWebhook',
    route: 'GET /v1/webhooks/{webhook_id}',
    tag: 'webhooks',
    query: '',
    success: { 200: 'Webhook' },
    errors: 'invalid_search U N I',
  },
  {
    operationId: 'updateWebhook',
    route: 'PATCH /v1/webhooks/{webhook_id}',
    tag: 'webhooks',
    body: 'UpdateWebhook 16384',
    success: { 200: 'Webhook' },
    errors: 'invalid_webhook rate_limited J U N I W',
  },
  {
    operationId: 'deleteWebhook',
    route: 'DELETE /v1/webhooks/{webhook_id}',
    tag: 'webhooks',
    success: { 202: 'Deleted' },
    errors: 'U N I W',
  },
  {
    operationId: 'rotateWebhookSecret',
    route: 'POST /v1/webhooks/{webhook_id}/secret',
    tag: 'webhooks',
    success: { 200: 'WebhookWithSecret' },
    errors: 'U N I W',
  },
  {
    operationId: 'testWebhook',
    route: 'POST /v1/webhooks/{webhook_id}/test',
    tag: 'webhooks',
    success: { 200: 'WebhookTest' },
    errors: 'rate_limited U N I W',
  },
  {
    operationId: 'listWebhookDeliveries',
    route: 'GET /v1/webhooks/{webhook_id}/deliveries',
    tag: 'webhooks',
    query: '',
    success: { 200: 'WebhookDeliveries' },
    errors: 'invalid_search U N I',
  },
  {
    operationId: 'replayWebhook',
    route: 'POST /v1/webhooks/{webhook_id}/replay',
    tag: 'webhooks',
    body: 'ReplayWebhook 16384',
    success: { 200: 'Webhook' },
    errors: 'invalid_webhook invalid_cursor cursor_expired J U N I W',
  },
];

/** Without a credential, but for feedback. */
const SIGNUP_AND_SERVICE: readonly Row[] = [
  {
    operationId: 'createSignup',
    route: 'POST /v1/signups',
    tag: 'signup',
    body: 'SignupInput 4096',
    success: { 202: 'SignupResult' },
    errors: 'invalid_request J origin_not_allowed rate_limited I W',
  },
  {
    operationId: 'createClaim',
    route: 'POST /v1/claims',
    tag: 'signup',
    body: 'ClaimInput 4096',
    success: { 201: 'ClaimResult' },
    errors: 'invalid_request invalid_claim J origin_not_allowed rate_limited I W',
  },
  {
    operationId: 'createFeedback',
    route: 'POST /v1/feedback',
    tag: 'feedback',
    body: 'FeedbackInput 20480',
    success: { 201: 'FeedbackResult' },
    errors: 'storage_limit_reached invalid_request J U I W',
  },
  {
    operationId: 'getHealth',
    route: 'GET /healthz',
    tag: 'service',
    success: { 200: '{status: "ok"}' },
    errors: '',
  },
  {
    operationId: 'getReadiness',
    route: 'GET /readyz',
    tag: 'service',
    success: { 200: '{status: "ready"}', 503: '{status: "not_ready"}' },
    errors: '',
  },
  {
    operationId: 'getContract',
    route: 'GET /openapi.json',
    tag: 'service',
    success: { 200: '{openapi: string, info: {}, paths: {}}' },
    errors: '',
  },
];

export const ROWS: readonly Row[] = [
  ...INBOXES,
  ...RECEIVED,
  ...SENT_AND_LABELS,
  ...SENDING,
  ...UPLOADS,
  ...DRAFTS,
  ...THREADS,
  ...TRASH,
  ...EVENTS,
  ...WEBHOOKS,
  ...SIGNUP_AND_SERVICE,
];

/** Operations that are not served yet. Whoever adds the route takes its name out. */
export const LATER: readonly string[] = [];

/** Paths of pages for people, which the document leaves out. */
export const PAGES: readonly string[] = [];

const SHORT: Readonly<Record<string, string>> = {
  J: 'invalid_json body_too_large unsupported_media_type',
  U: 'unauthorized',
  N: 'not_found',
  I: 'internal_error',
  W: 'insufficient_room',
};

/** The codes of a row, in alphabetical order. */
export function codesOf(row: Row): string[] {
  return words(row.errors)
    .flatMap(code => words(SHORT[code] ?? code))
    .sort();
}

export function words(text: string): string[] {
  return text.split(/\s+/).filter(word => word !== '');
}
