import { LABEL_OPERATIONS } from '../../contract/labels.js';
import type { CursorCodec } from '../../domain/paging.js';
import type { Store } from '../../store/engine/store.js';
import { changeLabels, changeLabelsInBatch } from '../../usecases/mailbox/change-messages.js';
import { listLabels } from '../../usecases/mailbox/list-labels.js';
import { readPage } from '../server/query.js';
import { inboxOf, json, messageOf, type RequestOf, type Route, routes } from '../server/route.js';

export interface LabelRouteDeps {
  readonly store: Store;
  readonly cursors: CursorCodec;
}

type Operations = typeof LABEL_OPERATIONS;

/** Labels of messages, and the labels in use. */
export function labelRoutes(deps: LabelRouteDeps): Route[] {
  const changeOne =
    (kind: 'received' | 'sent') => async (request: RequestOf<Operations['updateMessageLabels']>) =>
      json(200, await changeLabels(deps, { ...request.body, ...messageOf(request), kind }));
  const changeMany =
    (kind: 'received' | 'sent') =>
    async ({ account, body }: RequestOf<Operations['bulkUpdateMessageLabels']>) =>
      json(200, { messages: await changeLabelsInBatch(deps, { ...body, accountId: account.id, kind }) });
  return routes(LABEL_OPERATIONS, {
    updateMessageLabels: changeOne('received'),
    bulkUpdateMessageLabels: changeMany('received'),
    updateSentMessageLabels: changeOne('sent'),
    bulkUpdateSentLabels: changeMany('sent'),
    listLabels: request => {
      const page = readPage(request.query);
      const prefix = request.query.get('prefix') ?? '';
      return json(200, listLabels(deps, { ...inboxOf(request), ...page, prefix }));
    },
  });
}
