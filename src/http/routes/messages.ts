import { Deleted } from '../../contract/common.js';
import { MessageCount, ReceivedDetail, ReceivedPage } from '../../contract/messages.js';
import type { CursorCodec } from '../../domain/paging.js';
import type { Store } from '../../store/engine/store.js';
import { deleteMessage } from '../../usecases/mailbox/change-messages.js';
import { countMessages } from '../../usecases/mailbox/count-messages.js';
import { getMessageDetail, openAttachment, openRawMessage } from '../../usecases/mailbox/read-message.js';
import type { Clock } from '../../usecases/ports.js';
import { LIST_QUERY, listPage, type PageCache } from '../server/list-page.js';
import { LABEL_GROUPS, readFilter, SEARCH_NAMES } from '../server/query.js';
import { json, messageOf, type Reply, type Route, type RouteRequest } from '../server/route.js';

export interface MessageRouteDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly cursors: CursorCodec;
  readonly pages: PageCache;
}

const messagePath = '/v1/messages/{message_id}';

/** Wire contract 1.2: received mail. */
export function messageRoutes(deps: MessageRouteDeps): Route[] {
  return [...listRoutes(deps), ...messageResourceRoutes(deps), ...downloadRoutes(deps)];
}

function listRoutes(deps: MessageRouteDeps): Route[] {
  return [
    {
      operationId: 'listMessages',
      method: 'GET',
      path: '/v1/inboxes/{inbox_id}/messages',
      auth: 'bearer',
      query: LIST_QUERY,
      tag: 'messages',
      summary: 'List and search received messages',
      description: 'Newest received first, in every processing state. Lists hold no bodies.',
      responses: { 200: { description: 'A page of messages.', schema: ReceivedPage } },
      errors: [
        'invalid_limit',
        'invalid_cursor',
        'invalid_search',
        'invalid_labels',
        'not_found',
        'internal_error',
      ],
      handle: request => listPage(deps, 'received', request),
    },
    {
      operationId: 'countMessages',
      method: 'GET',
      path: '/v1/inboxes/{inbox_id}/messages/count',
      auth: 'bearer',
      query: { names: SEARCH_NAMES, lists: LABEL_GROUPS, invalid: 'invalid_search' },
      tag: 'messages',
      summary: 'Count received messages',
      description: 'Messages that are not parsed yet count too. It is no count of unread messages.',
      responses: { 200: { description: 'How many messages there are now.', schema: MessageCount } },
      errors: ['invalid_search', 'invalid_labels', 'not_found', 'internal_error'],
      handle: request => count(deps, request),
    },
  ];
}

function messageResourceRoutes(deps: MessageRouteDeps): Route[] {
  return [
    {
      operationId: 'getMessage',
      method: 'GET',
      path: messagePath,
      auth: 'bearer',
      tag: 'messages',
      summary: 'Get a received message',
      description: 'In every processing state; content is there when processing_status is ready.',
      responses: { 200: { description: 'The message.', schema: ReceivedDetail } },
      errors: ['not_found', 'internal_error', 'content_unavailable'],
      handle: request => {
        const detail = getMessageDetail(deps, messageOf(request));
        return { kind: 'json-bytes', status: 200, stream: detail };
      },
    },
    {
      operationId: 'deleteMessage',
      method: 'DELETE',
      path: messagePath,
      auth: 'bearer',
      tag: 'messages',
      summary: 'Delete a received message for good',
      description: 'Permanent, with its attachments, whether it is parsed, in Trash or neither.',
      responses: { 202: { description: 'The message is out of reach from now on.', schema: Deleted } },
      errors: ['operation_not_allowed', 'not_found', 'internal_error'],
      handle: async request =>
        json(202, await deleteMessage(deps, { ...messageOf(request), kind: 'received' })),
    },
  ];
}

function downloadRoutes(deps: MessageRouteDeps): Route[] {
  return [
    {
      operationId: 'downloadRawMessage',
      method: 'GET',
      path: `${messagePath}/raw`,
      auth: 'bearer',
      tag: 'messages',
      summary: 'Download the original message',
      description: 'Byte for byte as it was received, in every processing state.',
      responses: { 200: { description: 'The original bytes.', bytes: 'message/rfc822' } },
      errors: ['not_found', 'internal_error', 'content_unavailable'],
      handle: request => {
        const raw = openRawMessage(deps, messageOf(request));
        return { kind: 'download', contentType: 'message/rfc822', download: raw };
      },
    },
    {
      operationId: 'downloadAttachment',
      method: 'GET',
      path: `${messagePath}/attachments/{attachment_id}`,
      auth: 'bearer',
      tag: 'messages',
      summary: 'Download an attachment',
      description: 'Of a message that is ready; its declared type is not the type of the answer.',
      responses: { 200: { description: 'The bytes of the file.', bytes: 'application/octet-stream' } },
      errors: ['not_found', 'internal_error', 'content_unavailable'],
      handle: request => {
        const attachmentId = request.params.attachment_id ?? '';
        const file = openAttachment(deps, { ...messageOf(request), attachmentId });
        return { kind: 'download', contentType: 'application/octet-stream', download: file };
      },
    },
  ];
}

async function count(deps: MessageRouteDeps, { account, params, query }: RouteRequest): Promise<Reply> {
  const filter = readFilter(query);
  const counted = await countMessages(deps, {
    accountId: account.id,
    inboxId: params.inbox_id ?? '',
    kind: 'received',
    filter,
  });
  return json(200, { count: counted });
}
