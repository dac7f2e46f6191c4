import { MESSAGE_OPERATIONS } from '../../contract/messages.js';
import { refuse } from '../../domain/errors.js';
import type { EventDeps } from '../../usecases/events/list-events.js';
import { waitForMessage } from '../../usecases/events/wait-for-message.js';
import { deleteMessage } from '../../usecases/mailbox/change-messages.js';
import { countMessages } from '../../usecases/mailbox/count-messages.js';
import { getMessageDetail, openAttachment, openRawMessage } from '../../usecases/mailbox/read-message.js';
import type { Clock } from '../../usecases/ports.js';
import { countHits } from '../../usecases/search/count-hits.js';
import type { SearchDeps } from '../../usecases/search/search-messages.js';
import { listPage, type PageCache, waitedReply } from '../server/list-page.js';
import { readFilter, readInclude, readWaitMs } from '../server/query.js';
import {
  inboxOf,
  json,
  jsonBytes,
  messageOf,
  type Reply,
  type RequestOf,
  type Route,
  routes,
} from '../server/route.js';

export interface MessageRouteDeps extends SearchDeps {
  readonly clock: Clock;
  readonly pages: PageCache;
  readonly events: EventDeps;
}

const kind = 'received';

/** Received mail. */
export function messageRoutes(deps: MessageRouteDeps): Route[] {
  return routes(MESSAGE_OPERATIONS, {
    listMessages: request =>
      isWait(request.queryText) ? waitPage(deps, request) : listPage(deps, kind, request),
    countMessages: async request => {
      const filter = readFilter(request.query);
      const input = { ...inboxOf(request), kind, filter } as const;
      const count = await (filter.terms.length > 0 ? countHits(deps, input) : countMessages(deps, input));
      return json(200, { count });
    },
    getMessage: request => {
      const hasAuthentication = readInclude(request.query, 'authentication');
      return jsonBytes(getMessageDetail(deps, { ...messageOf(request), hasAuthentication }));
    },
    deleteMessage: async request => json(202, await deleteMessage(deps, { ...messageOf(request), kind })),
    downloadRawMessage: request => {
      const raw = openRawMessage(deps, messageOf(request));
      return { kind: 'download', contentType: 'message/rfc822', download: raw };
    },
    downloadAttachment: request => {
      const { attachment_id: attachmentId } = request.params;
      const file = openAttachment(deps, { ...messageOf(request), attachmentId });
      return { kind: 'download', contentType: 'application/octet-stream', download: file };
    },
  });
}

/** Most lists are asked for without: their query is not read before a page that is kept is looked for. */
function isWait(queryText: string): boolean {
  return /(?:^|&)(?:wait|since)=/.test(queryText);
}

type ListRequest = RequestOf<(typeof MESSAGE_OPERATIONS)['listMessages']>;

async function waitPage(deps: MessageRouteDeps, request: ListRequest): Promise<Reply<never>> {
  const { query, requester } = request;
  for (const name of ['limit', 'order', 'cursor'] as const) {
    if (query.get(name) === undefined) continue;
    throw refuse('invalid_search', `${name} does not go with wait or since: these give one message.`);
  }
  const waitMs = readWaitMs(query) ?? 0;
  const filter = readFilter(query);
  const hasPreviews = readInclude(query, 'preview');
  const since = query.get('since') ?? null;
  const input = { ...inboxOf(request), filter, since, waitMs };
  const waiting = { ...deps.events, index: deps.index };
  const { message, nextCursor: nextSince } = await waitForMessage(waiting, input, requester);
  return waitedReply(deps, { message, nextSince }, hasPreviews);
}
