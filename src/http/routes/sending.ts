import type { z } from 'zod';
import { Deleted } from '../../contract/common.js';
import type { ErrorCode } from '../../contract/errors.js';
import { ForwardInput, Quota, ReplyInput, SendInput } from '../../contract/sending.js';
import {
  FirstSendReceipt,
  ReplayedSendReceipt,
  type SendReceipt,
  SentDetail,
  SentPage,
} from '../../contract/sent.js';
import type { CursorCodec } from '../../domain/paging.js';
import type { ReplyScope } from '../../domain/reply.js';
import { deleteMessage } from '../../usecases/mailbox/change-messages.js';
import { getSentDetail } from '../../usecases/mailbox/read-message.js';
import { getQuota } from '../../usecases/sending/quota.js';
import { forwardMessage, replyMessage, sendMessage } from '../../usecases/sending/recipes.js';
import type { SendDeps } from '../../usecases/sending/submit-send.js';
import { LIST_QUERY, listPage, type PageCache } from '../server/list-page.js';
import { json, messageOf, type Reply, type Route, type RouteRequest } from '../server/route.js';

export interface SentRouteDeps {
  readonly send: SendDeps;
  readonly cursors: CursorCodec;
  readonly pages: PageCache;
}

/** Wire contract 1.3 and 1.4: sending, sent copies, the allowance. */
export function sentRoutes(deps: SentRouteDeps): Route[] {
  const { store, clock } = deps.send;
  const sentPath = '/v1/sent/{message_id}';
  return [
    {
      operationId: 'sendMessage',
      method: 'POST',
      path: '/v1/inboxes/{inbox_id}/sent',
      auth: 'bearer',
      body: {
        limitBytes: SEND_LIMIT,
        schema: SendInput,
        invalid: 'invalid_message',
        fieldCodes: SEND_FIELD_CODES,
      },
      tag: 'sending',
      summary: 'Send a message',
      description:
        'Waits for the outcome, for so long as the service is set to. 201 is no proof of delivery: look at message.status.',
      responses: RECEIPT_RESPONSES,
      errors: SEND_ERRORS,
      uncertain: 'outbound_unavailable',
      // Not an async function: it would keep the body of the request while the outcome is waited for.
      handle: request => send(deps.send, request).then(receiptReply),
    },
    {
      operationId: 'listSentMessages',
      method: 'GET',
      path: '/v1/inboxes/{inbox_id}/sent',
      auth: 'bearer',
      query: LIST_QUERY,
      tag: 'sending',
      summary: 'List and search sent messages',
      description: 'Newest submitted first, whatever became of them. Lists hold no bodies.',
      responses: { 200: { description: 'A page of messages.', schema: SentPage } },
      errors: [
        'invalid_limit',
        'invalid_cursor',
        'invalid_search',
        'invalid_labels',
        'not_found',
        'outbound_unavailable',
      ],
      uncertain: 'outbound_unavailable',
      handle: request => listPage({ ...deps, store }, 'sent', request),
    },
    {
      operationId: 'getSentMessage',
      method: 'GET',
      path: sentPath,
      auth: 'bearer',
      tag: 'sending',
      summary: 'Get a sent message',
      description: 'With what was sent: recipients, bodies with the attribution, files.',
      responses: { 200: { description: 'The message.', schema: SentDetail } },
      errors: ['not_found', 'content_unavailable', 'outbound_unavailable'],
      uncertain: 'outbound_unavailable',
      handle: async request => {
        const detail = await getSentDetail({ store }, messageOf(request));
        return { kind: 'json-bytes', status: 200, stream: detail };
      },
    },
    {
      operationId: 'deleteSentMessage',
      method: 'DELETE',
      path: sentPath,
      auth: 'bearer',
      tag: 'sending',
      summary: 'Delete a sent message for good',
      description: 'Permanent, with its attachments. It refunds nothing and frees no key.',
      responses: { 202: { description: 'The message is out of reach from now on.', schema: Deleted } },
      errors: ['operation_not_allowed', 'not_found', 'internal_error'],
      handle: async request =>
        json(202, await deleteMessage({ store, clock }, { ...messageOf(request), kind: 'sent' })),
    },
    {
      operationId: 'getOutboundQuota',
      method: 'GET',
      path: '/v1/outbound/quota',
      auth: 'bearer',
      tag: 'sending',
      summary: 'Get the sending allowance',
      description: 'Of the account, over the last 24 hours. Every To, Cc and Bcc entry counts one.',
      responses: { 200: { description: 'The allowance as it is now.', schema: Quota } },
      errors: ['not_found', 'outbound_unavailable'],
      uncertain: 'outbound_unavailable',
      handle: ({ account }) => json(200, getQuota({ store, clock, ...deps.send.quota }, account)),
    },
  ];
}

function send(deps: SendDeps, { account, params, body }: RouteRequest): Promise<SendReceipt> {
  return sendMessage(deps, {
    ...(body as SendInput),
    accountId: account.id,
    inboxId: params.inbox_id ?? '',
  });
}

/** Wire contract 1.4: answering and forwarding. */
export function correspondenceRoutes(send: SendDeps): Route[] {
  return [
    replyRoute(send, 'reply', 'replyMessage'),
    replyRoute(send, 'reply-all', 'replyAllMessage'),
    {
      operationId: 'forwardMessage',
      method: 'POST',
      path: '/v1/inboxes/{inbox_id}/forward',
      auth: 'bearer',
      body: bodySpec(ForwardInput),
      tag: 'sending',
      summary: 'Forward a message',
      description:
        'With a note before it, and its files unless they are left out. A new conversation begins with it.',
      responses: RECEIPT_RESPONSES,
      errors: SEND_ERRORS.filter(code => code !== 'reply_headers_unavailable'),
      uncertain: 'outbound_unavailable',
      handle: ({ account, params, body }) => {
        const sent = forwardMessage(send, {
          ...(body as ForwardInput),
          accountId: account.id,
          inboxId: params.inbox_id ?? '',
        });
        return sent.then(receiptReply);
      },
    },
  ];
}

function replyRoute(send: SendDeps, scope: ReplyScope, operationId: string): Route {
  return {
    operationId,
    method: 'POST',
    path: `/v1/inboxes/{inbox_id}/${scope}`,
    auth: 'bearer',
    body: bodySpec(ReplyInput),
    tag: 'sending',
    summary: scope === 'reply' ? 'Answer a message' : 'Answer a message to everyone',
    description: 'Recipients and subject follow from the message; its text is not quoted.',
    responses: RECEIPT_RESPONSES,
    errors: [...SEND_ERRORS, 'reply_recipients_unavailable'],
    uncertain: 'outbound_unavailable',
    handle: ({ account, params, body }) => {
      const sent = replyMessage(send, scope, {
        ...(body as ReplyInput),
        accountId: account.id,
        inboxId: params.inbox_id ?? '',
      });
      return sent.then(receiptReply);
    },
  };
}

function bodySpec(schema: z.ZodType) {
  const invalid: ErrorCode = 'invalid_message';
  return { limitBytes: SEND_LIMIT, schema, invalid, fieldCodes: SEND_FIELD_CODES };
}

/** What all ways of sending have in common over HTTP. */

/** Specification, Limits: JSON of a send. */
export const SEND_LIMIT = 8_388_608;

/** What a bad value of these fields answers, on every way of sending. */
export const SEND_FIELD_CODES = {
  labels: 'invalid_labels',
  idempotency_key: 'invalid_idempotency_key',
} as const;

/** Codes of failure of every way of sending (wire contract 1.4). */
export const SEND_ERRORS: readonly ErrorCode[] = [
  'invalid_message',
  'invalid_name',
  'invalid_labels',
  'invalid_idempotency_key',
  'operation_not_allowed',
  'recipient_not_allowed',
  'not_found',
  'reply_not_ready',
  'reply_headers_unavailable',
  'idempotency_conflict',
  'idempotency_result_unavailable',
  'message_too_large',
  'outbound_limit_reached',
  'content_unavailable',
  'outbound_unavailable',
];

/** 201 for a new attempt, whatever became of it; 200 for a replay. */
export function receiptReply(sent: SendReceipt): Reply {
  const receipt = sent;
  return json(receipt.replayed === true ? 200 : 201, receipt, { Location: `/v1/sent/${receipt.message.id}` });
}

/** What every way of sending answers with. */
export const RECEIPT_RESPONSES = {
  201: {
    description: 'The attempt that was made; status says what became of it.',
    schema: FirstSendReceipt,
    headers: ['Location'],
  },
  200: {
    description: 'The attempt that the key stands for, as it is now; nothing was sent again.',
    schema: ReplayedSendReceipt,
    headers: ['Location'],
  },
} as const;
