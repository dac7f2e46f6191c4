import { LabelChange } from '../../contract/labels.js';
import {
  DeletedThread,
  ThreadDetail,
  ThreadLabelResult,
  ThreadPage as ThreadPageType,
} from '../../contract/threads.js';
import { resultOf } from '../../domain/errors.js';
import type { CursorCodec } from '../../domain/paging.js';
import type { Store } from '../../store/engine/store.js';
import type { Clock } from '../../usecases/ports.js';
import { changeThreadLabels, deleteThread } from '../../usecases/threads/change-thread.js';
import { listThreads, threadListVersion } from '../../usecases/threads/list-threads.js';
import { getThreadDetail, type ThreadInput } from '../../usecases/threads/read-thread.js';
import { LIST_QUERY, PageCache, readListQuery } from '../server/list-page.js';
import { readLimit } from '../server/query.js';
import { json, type Reply, type Route, type RouteRequest } from '../server/route.js';
import { CHANGE_LIMIT } from './labels.js';

export interface ThreadRouteDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly cursors: CursorCodec;
  readonly retentionDays: number;
}

const PAGE_CACHE_BYTES = 4 * 2 ** 20;

/** Wire contract 1.6: conversations. */
export function threadRoutes(deps: ThreadRouteDeps): Route[] {
  const pages = new PageCache(PAGE_CACHE_BYTES);
  const threadPath = '/v1/threads/{thread_id}';
  return [
    {
      operationId: 'listThreads',
      method: 'GET',
      path: '/v1/inboxes/{inbox_id}/threads',
      auth: 'bearer',
      query: LIST_QUERY,
      tag: 'threads',
      summary: 'List and search conversations',
      description:
        'Last active first. One message of a conversation must meet all conditions. A page may come back short with a cursor.',
      responses: { 200: { description: 'A page of conversations.', schema: ThreadPageType } },
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
      operationId: 'getThread',
      method: 'GET',
      path: threadPath,
      auth: 'bearer',
      query: { names: ['limit', 'cursor'], invalid: 'invalid_search' },
      tag: 'threads',
      summary: 'Get a conversation',
      description: 'The newest messages first, page by page; within a page the oldest comes first.',
      responses: {
        200: { description: 'The conversation and a page of its messages.', schema: ThreadDetail },
      },
      errors: [
        'invalid_limit',
        'invalid_cursor',
        'invalid_search',
        'not_found',
        'internal_error',
        'content_unavailable',
      ],
      handle: request => show(deps, request),
    },
    {
      operationId: 'updateThreadLabels',
      method: 'PATCH',
      path: threadPath,
      auth: 'bearer',
      body: { limitBytes: CHANGE_LIMIT, schema: LabelChange, invalid: 'invalid_labels' },
      tag: 'threads',
      summary: 'Add and remove labels of every message of a conversation',
      description: 'Of those that are in it now; messages that come later get none of it.',
      responses: { 200: { description: 'How many messages it was about.', schema: ThreadLabelResult } },
      errors: ['invalid_labels', 'not_found', 'internal_error'],
      handle: async request => {
        const change = request.body as LabelChange;
        return json(200, await changeThreadLabels(deps, { ...threadOf(request), ...change }));
      },
    },
    {
      operationId: 'deleteThread',
      method: 'DELETE',
      path: threadPath,
      auth: 'bearer',
      tag: 'threads',
      summary: 'Move a conversation to Trash',
      description: 'Every message that is in it now. Restoring them brings the conversation back.',
      responses: { 202: { description: 'How many messages were moved.', schema: DeletedThread } },
      errors: ['operation_not_allowed', 'not_found', 'internal_error'],
      handle: async request => json(202, await deleteThread(deps, threadOf(request))),
    },
  ];
}

/** The conversation that a request's path names, asked for by its caller. */
function threadOf({ account, params }: RouteRequest): ThreadInput {
  return { accountId: account.id, threadId: params.thread_id ?? '' };
}

async function list(deps: ThreadRouteDeps, pages: PageCache, request: RouteRequest): Promise<Reply> {
  const input = { accountId: request.account.id, inboxId: request.params.inbox_id ?? '' };
  const version = resultOf(() => threadListVersion(deps, input));
  // A refusal is left to the list: what is wrong with the query comes first.
  const key = `${input.inboxId}?${request.queryText}`;
  const cached = version.ok ? pages.get(key, `${version.value}`) : undefined;
  if (cached !== undefined) return pageReply(cached);
  const asked = readListQuery(request.query);
  const page = await listThreads(deps, { ...input, ...asked });
  const bytes = Buffer.from(JSON.stringify(page));
  // A search takes several event turns: its page is of one state when nothing has changed meanwhile.
  const versionNow = resultOf(() => threadListVersion(deps, input));
  if (version.ok && versionNow.ok && versionNow.value === version.value)
    pages.set(key, `${version.value}`, bytes);
  return pageReply(bytes);
}

function pageReply(bytes: Buffer): Reply {
  return { kind: 'json-bytes', status: 200, stream: { size: bytes.length, bytes: [bytes] } };
}

function show(deps: ThreadRouteDeps, request: RouteRequest): Reply {
  const limit = readLimit(request.query);
  const cursor = request.query.get('cursor') ?? null;
  const detail = getThreadDetail(deps, { ...threadOf(request), limit, cursor });
  return { kind: 'json-bytes', status: 200, stream: detail };
}
