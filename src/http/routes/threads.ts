import type { Preview } from '../../contract/common.js';
import { THREAD_OPERATIONS, type ThreadPage } from '../../contract/threads.js';
import { resultOf } from '../../domain/errors.js';
import { type MessageId, toId } from '../../domain/ids.js';
import { previewsOf } from '../../usecases/mailbox/previews.js';
import type { Clock } from '../../usecases/ports.js';
import type { SearchDeps } from '../../usecases/search/search-messages.js';
import { searchThreads } from '../../usecases/search/search-threads.js';
import { changeThreadLabels, deleteThread } from '../../usecases/threads/change-thread.js';
import { listThreads, threadListVersion } from '../../usecases/threads/list-threads.js';
import { getThreadDetail } from '../../usecases/threads/read-thread.js';
import { PageCache, pageReply, readListQuery } from '../server/list-page.js';
import { readInclude, readPage } from '../server/query.js';
import {
  inboxOf,
  json,
  jsonBytes,
  type Reply,
  type RequestOf,
  type Route,
  routes,
  threadOf,
} from '../server/route.js';

export interface ThreadRouteDeps extends SearchDeps {
  readonly clock: Clock;
  readonly retentionDays: number;
}

const PAGE_CACHE_BYTES = 4 * 2 ** 20;

export function threadRoutes(deps: ThreadRouteDeps): Route[] {
  const pages = new PageCache(PAGE_CACHE_BYTES);
  return routes(THREAD_OPERATIONS, {
    listThreads: request => list(deps, pages, request),
    getThread: request =>
      jsonBytes(getThreadDetail(deps, { ...threadOf(request), ...readPage(request.query) })),
    updateThreadLabels: async request =>
      json(200, await changeThreadLabels(deps, { ...request.body, ...threadOf(request) })),
    deleteThread: async request => json(202, await deleteThread(deps, threadOf(request))),
  });
}

type ListRequest = RequestOf<(typeof THREAD_OPERATIONS)['listThreads']>;

async function list(deps: ThreadRouteDeps, pages: PageCache, request: ListRequest): Promise<Reply<never>> {
  const input = inboxOf(request);
  const version = resultOf(() => threadListVersion(deps, input));
  // A refusal here is not thrown: `listThreads` throws it again, after errors of the query, which come first.
  const key = `${input.inboxId}?${request.queryText}`;
  const cached = version.ok ? pages.get(key, `${version.value}`) : undefined;
  if (cached !== undefined) return pageReply(cached);
  const asked = readListQuery(request.query);
  const hasPreviews = readInclude(request.query, 'preview');
  const find = asked.filter.terms.length > 0 ? searchThreads : listThreads;
  const page = await find(deps, { ...input, ...asked });
  const bytes = Buffer.from(JSON.stringify(hasPreviews ? withPreviews(deps, page) : page));
  // A search spans several turns of the event loop: its page is cached only if nothing changed in the meantime.
  const versionNow = resultOf(() => threadListVersion(deps, input));
  // An order by relevance is of its moment, and its next pages are not kept for ever.
  const isKept = asked.order !== 'relevance';
  if (isKept && version.ok && versionNow.ok && versionNow.value === version.value) {
    pages.set(key, `${version.value}`, bytes);
  }
  return pageReply(bytes);
}

function withPreviews(deps: ThreadRouteDeps, { threads, next_cursor }: ThreadPage): ThreadPage {
  const previews = previewsOf(
    deps,
    threads.map(({ latest_message }) => toId<MessageId>(latest_message.id)),
  );
  return {
    threads: threads.map((thread, at) => ({
      ...thread,
      latest_message: { ...thread.latest_message, preview: readPreview(previews[at]) },
    })),
    next_cursor,
  };
}

function readPreview(json = 'null'): Preview | null {
  return JSON.parse(json) as Preview | null;
}
