import { MESSAGE_OPERATIONS } from '../../contract/messages.js';
import { deleteMessage } from '../../usecases/mailbox/change-messages.js';
import { countMessages } from '../../usecases/mailbox/count-messages.js';
import { getMessageDetail, openAttachment, openRawMessage } from '../../usecases/mailbox/read-message.js';
import type { Clock } from '../../usecases/ports.js';
import { countHits } from '../../usecases/search/count-hits.js';
import type { SearchDeps } from '../../usecases/search/search-messages.js';
import { listPage, type PageCache } from '../server/list-page.js';
import { readFilter, readInclude } from '../server/query.js';
import { inboxOf, json, jsonBytes, messageOf, type Route, routes } from '../server/route.js';

export interface MessageRouteDeps extends SearchDeps {
  readonly clock: Clock;
  readonly pages: PageCache;
}

const kind = 'received';

/** Received mail. */
export function messageRoutes(deps: MessageRouteDeps): Route[] {
  return routes(MESSAGE_OPERATIONS, {
    listMessages: request => listPage(deps, kind, request),
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
