import type { CursorCodec } from '../../domain/cursor.js';
import type { Result } from '../../domain/errors.js';
import type { Store } from '../../store/store.js';
import { countMessages } from '../../usecases/count-messages.js';
import { deleteMessage } from '../../usecases/delete-message.js';
import { type ListInput, listMessages, listVersion, type MessagePage } from '../../usecases/list-messages.js';
import { receivedMessages } from '../../usecases/message-access.js';
import type { Clock } from '../../usecases/ports.js';
import { getMessageDetail, openAttachment, openRawMessage } from '../../usecases/read-message.js';
import { PageCache } from '../page-cache.js';
import { readLimit } from '../query.js';
import { failed, jsonOrFailure, messageOf, type Reply, type Route, type RouteRequest } from '../route.js';
import { LABEL_GROUPS, readFilter, readOrder, SEARCH_NAMES } from '../search-query.js';

export interface MessageRouteDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly cursors: CursorCodec;
}

const PAGE_CACHE_BYTES = 8 * 2 ** 20;

/** Wire contract 1.2: received mail. */
export function messageRoutes(deps: MessageRouteDeps): Route[] {
  const pages = new PageCache(PAGE_CACHE_BYTES);
  const messagePath = '/v1/messages/{message_id}';
  return [
    {
      operationId: 'listMessages',
      method: 'GET',
      path: '/v1/inboxes/{inbox_id}/messages',
      auth: 'bearer',
      query: {
        names: ['limit', 'cursor', 'order', ...SEARCH_NAMES],
        lists: LABEL_GROUPS,
        invalid: 'invalid_search',
      },
      successes: [200],
      errors: [
        'invalid_limit',
        'invalid_cursor',
        'invalid_search',
        'invalid_labels',
        'not_found',
        'internal_error',
      ],
      handle: request => list(deps, pages, request),
    },
    {
      operationId: 'countMessages',
      method: 'GET',
      path: '/v1/inboxes/{inbox_id}/messages/count',
      auth: 'bearer',
      query: { names: SEARCH_NAMES, lists: LABEL_GROUPS, invalid: 'invalid_search' },
      successes: [200],
      errors: ['invalid_search', 'invalid_labels', 'not_found', 'internal_error'],
      handle: request => count(deps, request),
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
      handle: async request =>
        jsonOrFailure(await deleteMessage({ ...deps, access: receivedMessages }, messageOf(request)), 202),
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

function list(deps: MessageRouteDeps, pages: PageCache, request: RouteRequest): Reply {
  const input = {
    accountId: request.account.id,
    inboxId: request.params.inbox_id ?? '',
    kind: 'received',
  } as const;
  const version = listVersion(deps, input);
  // A refusal is left to the list: what is wrong with the query comes first.
  const key = `${input.inboxId}?${request.queryText}`;
  const cached = version.ok ? pages.get(key, version.value) : undefined;
  if (cached !== undefined) return pageReply(cached);
  const page = askFor(deps, input, request);
  if (!page.ok) return failed(page);
  const bytes = encodePage(page.value);
  // Read in the same event turn, so of the same snapshot.
  if (version.ok) pages.set(key, version.value, bytes);
  return pageReply(bytes);
}

function pageReply(bytes: Buffer): Reply {
  return { kind: 'json-bytes', status: 200, stream: { size: bytes.length, bytes: [bytes] } };
}

function askFor(
  deps: MessageRouteDeps,
  input: Pick<ListInput, 'accountId' | 'inboxId' | 'kind'>,
  { query }: RouteRequest,
): Result<MessagePage> {
  const limit = readLimit(query);
  if (!limit.ok) return limit;
  const order = readOrder(query);
  if (!order.ok) return order;
  const filter = readFilter(query);
  if (!filter.ok) return filter;
  return listMessages(deps, {
    ...input,
    filter: filter.value,
    order: order.value,
    limit: limit.value,
    cursor: query.get('cursor') ?? null,
  });
}

async function count(deps: MessageRouteDeps, { account, params, query }: RouteRequest): Promise<Reply> {
  const filter = readFilter(query);
  if (!filter.ok) return failed(filter);
  const counted = await countMessages(deps, {
    accountId: account.id,
    inboxId: params.inbox_id ?? '',
    kind: 'received',
    filter: filter.value,
  });
  return jsonOrFailure(counted, 200, number => ({ count: number }));
}

const OPEN = Buffer.from('{"messages":[');
const COMMA = Buffer.from(',');

/** Joins the stored summaries: a list is never decoded and encoded again. */
function encodePage(page: MessagePage): Buffer {
  const parts: Buffer[] = [OPEN];
  for (const [index, summary] of page.summaries.entries()) {
    if (index > 0) parts.push(COMMA);
    parts.push(summary);
  }
  parts.push(Buffer.from(`],"next_cursor":${JSON.stringify(page.nextCursor)}}`));
  return Buffer.concat(parts);
}
