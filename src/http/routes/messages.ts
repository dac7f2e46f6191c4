import type { CursorCodec } from '../../domain/cursor.js';
import type { Store } from '../../store/store.js';
import { deleteMessage } from '../../usecases/delete-message.js';
import { countMessages, listMessages, type MessagePage } from '../../usecases/list-messages.js';
import type { Clock } from '../../usecases/ports.js';
import {
  type ByteStream,
  getMessageDetail,
  openAttachment,
  openRawMessage,
} from '../../usecases/read-message.js';
import { readLimit } from '../query.js';
import { failed, jsonOrFailure, type Reply, type Route, type RouteRequest } from '../route.js';

export interface MessageRouteDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly cursors: CursorCodec;
}

/** Wire contract 1.2: received mail. */
export function messageRoutes(deps: MessageRouteDeps): Route[] {
  const messagePath = '/v1/messages/{message_id}';
  return [
    {
      operationId: 'listMessages',
      method: 'GET',
      path: '/v1/inboxes/{inbox_id}/messages',
      auth: 'bearer',
      query: { names: ['limit', 'cursor'], invalid: 'invalid_search' },
      successes: [200],
      errors: [
        'invalid_limit',
        'invalid_cursor',
        'invalid_search',
        'invalid_labels',
        'not_found',
        'internal_error',
      ],
      handle: request => list(deps, request),
    },
    {
      operationId: 'countMessages',
      method: 'GET',
      path: '/v1/inboxes/{inbox_id}/messages/count',
      auth: 'bearer',
      query: { names: [], invalid: 'invalid_search' },
      successes: [200],
      errors: ['invalid_search', 'invalid_labels', 'not_found', 'internal_error'],
      handle: ({ account, params }) => {
        const counted = countMessages(deps, { accountId: account.id, inboxId: params.inbox_id ?? '' });
        return jsonOrFailure(counted, 200, count => ({ count }));
      },
    },
    {
      operationId: 'getMessage',
      method: 'GET',
      path: messagePath,
      auth: 'bearer',
      successes: [200],
      errors: ['not_found', 'internal_error', 'content_unavailable'],
      handle: request => {
        const detail = getMessageDetail(deps, messageOf(request));
        return detail.ok ? { kind: 'json-bytes', status: 200, stream: detail.value } : failed(detail);
      },
    },
    {
      operationId: 'deleteMessage',
      method: 'DELETE',
      path: messagePath,
      auth: 'bearer',
      successes: [202],
      errors: ['operation_not_allowed', 'not_found', 'internal_error'],
      handle: async request => jsonOrFailure(await deleteMessage(deps, messageOf(request)), 202),
    },
    {
      operationId: 'downloadRawMessage',
      method: 'GET',
      path: `${messagePath}/raw`,
      auth: 'bearer',
      successes: [200],
      errors: ['not_found', 'internal_error', 'content_unavailable'],
      handle: request => {
        const raw = openRawMessage(deps, messageOf(request));
        return raw.ok
          ? { kind: 'download', contentType: 'message/rfc822', download: raw.value }
          : failed(raw);
      },
    },
    {
      operationId: 'downloadAttachment',
      method: 'GET',
      path: `${messagePath}/attachments/{attachment_id}`,
      auth: 'bearer',
      successes: [200],
      errors: ['not_found', 'internal_error', 'content_unavailable'],
      handle: request => {
        const attachmentId = request.params.attachment_id ?? '';
        const file = openAttachment(deps, { ...messageOf(request), attachmentId });
        return file.ok
          ? { kind: 'download', contentType: 'application/octet-stream', download: file.value }
          : failed(file);
      },
    },
  ];
}

function messageOf({ account, params }: RouteRequest) {
  return { accountId: account.id, messageId: params.message_id ?? '' };
}

function list(deps: MessageRouteDeps, { account, params, query }: RouteRequest): Reply {
  const limit = readLimit(query);
  if (!limit.ok) return failed(limit);
  const page = listMessages(deps, {
    accountId: account.id,
    inboxId: params.inbox_id ?? '',
    limit: limit.value,
    cursor: query.get('cursor') ?? null,
  });
  return page.ok ? { kind: 'json-bytes', status: 200, stream: encodePage(page.value) } : failed(page);
}

const OPEN = Buffer.from('{"messages":[');
const COMMA = Buffer.from(',');

/** Joins the stored summaries: a list is never decoded and encoded again. */
function encodePage(page: MessagePage): ByteStream {
  const parts: Buffer[] = [OPEN];
  for (const [index, summary] of page.summaries.entries()) {
    if (index > 0) parts.push(COMMA);
    parts.push(summary);
  }
  parts.push(Buffer.from(`],"next_cursor":${JSON.stringify(page.nextCursor)}}`));
  const whole = Buffer.concat(parts);
  return { size: whole.length, bytes: [whole] };
}
