import type { z } from 'zod';
import type { CursorCodec } from '../../domain/cursor.js';
import type { Result } from '../../domain/errors.js';
import { deleteMessage } from '../../usecases/delete-message.js';
import { sentMessages } from '../../usecases/message-access.js';
import { getQuota } from '../../usecases/quota.js';
import { getSentDetail } from '../../usecases/read-sent.js';
import { sendMessage } from '../../usecases/send-message.js';
import type { SendReceipt } from '../../usecases/send-request.js';
import type { SendDeps } from '../../usecases/submit-send.js';
import { LIST_QUERY, listPage } from '../list-page.js';
import type { PageCache } from '../page-cache.js';
import { failed, json, jsonOrFailure, messageOf, type Route, type RouteRequest } from '../route.js';
import { Deleted } from '../schemas/deletions.js';
import { Quota } from '../schemas/quota.js';
import { SendInput } from '../schemas/sending.js';
import { SentDetail, SentPage } from '../schemas/sent.js';
import { RECEIPT_RESPONSES, receiptReply, SEND_ERRORS, SEND_FIELD_CODES, SEND_LIMIT } from '../sending.js';

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
        return detail.ok ? { kind: 'json-bytes', status: 200, stream: detail.value } : failed(detail);
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
        jsonOrFailure(await deleteMessage({ store, clock, access: sentMessages }, messageOf(request)), 202),
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

function send(deps: SendDeps, { account, params, body }: RouteRequest): Promise<Result<SendReceipt>> {
  const { in_reply_to, idempotency_key, ...rest } = body as z.infer<typeof SendInput>;
  return sendMessage(deps, {
    ...rest,
    inReplyTo: in_reply_to,
    idempotencyKey: idempotency_key,
    accountId: account.id,
    inboxId: params.inbox_id ?? '',
  });
}
