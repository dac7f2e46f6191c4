import { TRASH_OPERATIONS } from '../../contract/trash.js';
import type { CursorCodec } from '../../domain/paging.js';
import type { Store } from '../../store/engine/store.js';
import { restoreMessage, trashMessage } from '../../usecases/mailbox/change-messages.js';
import { listTrash } from '../../usecases/mailbox/list-trash.js';
import type { Clock } from '../../usecases/ports.js';
import { readPage } from '../server/query.js';
import { inboxOf, json, messageOf, type RequestOf, type Route, routes } from '../server/route.js';

export interface TrashRouteDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly cursors: CursorCodec;
  readonly retentionDays: number;
}

type Move = RequestOf<(typeof TRASH_OPERATIONS)['trashMessage' | 'restoreMessage']>;

/** Moving to Trash, listing it, and restoring. */
export function trashRoutes(deps: TrashRouteDeps): Route[] {
  const trash = (kind: 'received' | 'sent') => async (request: Move) =>
    json(200, await trashMessage(deps, { ...messageOf(request), kind }));
  const restore = (kind: 'received' | 'sent') => async (request: Move) =>
    json(200, await restoreMessage(deps, { ...messageOf(request), kind }));
  return routes(TRASH_OPERATIONS, {
    trashMessage: trash('received'),
    restoreMessage: restore('received'),
    trashSentMessage: trash('sent'),
    restoreSentMessage: restore('sent'),
    listTrash: request => json(200, listTrash(deps, { ...inboxOf(request), ...readPage(request.query) })),
  });
}
