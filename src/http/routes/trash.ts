import type { CursorCodec } from '../../domain/cursor.js';
import type { Store } from '../../store/store.js';
import { listTrash } from '../../usecases/list-trash.js';
import { receivedMessages } from '../../usecases/message-access.js';
import type { Clock } from '../../usecases/ports.js';
import { restoreMessage, trashMessage } from '../../usecases/trash-message.js';
import { readLimit } from '../query.js';
import { failed, jsonOrFailure, messageOf, type Reply, type Route, type RouteRequest } from '../route.js';

export interface TrashRouteDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly cursors: CursorCodec;
  readonly retentionDays: number;
}

/** Decisions, Trash, and wire contract 1.7; the operations take no body. */
export function trashRoutes(deps: TrashRouteDeps): Route[] {
  const received = { ...deps, access: receivedMessages };
  return [
    {
      operationId: 'trashMessage',
      method: 'POST',
      path: '/v1/messages/{message_id}/trash',
      auth: 'bearer',
      successes: [200],
      errors: ['operation_not_allowed', 'not_found', 'internal_error'],
      handle: async request => jsonOrFailure(await trashMessage(received, messageOf(request)), 200),
    },
    {
      operationId: 'restoreMessage',
      method: 'POST',
      path: '/v1/messages/{message_id}/restore',
      auth: 'bearer',
      successes: [200],
      errors: ['operation_not_allowed', 'not_found', 'internal_error', 'content_unavailable'],
      handle: async request => jsonOrFailure(await restoreMessage(received, messageOf(request)), 200),
    },
    {
      operationId: 'listTrash',
      method: 'GET',
      path: '/v1/inboxes/{inbox_id}/trash',
      auth: 'bearer',
      query: { names: ['limit', 'cursor'], invalid: 'invalid_search' },
      successes: [200],
      errors: [
        'invalid_limit',
        'invalid_cursor',
        'invalid_search',
        'not_found',
        'internal_error',
        'content_unavailable',
      ],
      handle: request => list(deps, request),
    },
  ];
}

function list(deps: TrashRouteDeps, { account, params, query }: RouteRequest): Reply {
  const limit = readLimit(query);
  if (!limit.ok) return failed(limit);
  const inboxId = params.inbox_id ?? '';
  const cursor = query.get('cursor') ?? null;
  return jsonOrFailure(listTrash(deps, { accountId: account.id, inboxId, limit: limit.value, cursor }), 200);
}
