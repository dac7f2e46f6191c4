import { Restored, Trashed, TrashPage } from '../../contract/trash.js';
import type { CursorCodec } from '../../domain/paging.js';
import type { Store } from '../../store/engine/store.js';
import type { MessageKind } from '../../store/mailbox/mailboxes.js';
import { restoreMessage, trashMessage } from '../../usecases/mailbox/change-messages.js';
import { listTrash } from '../../usecases/mailbox/list-trash.js';
import type { Clock } from '../../usecases/ports.js';
import { readLimit } from '../server/query.js';
import { json, messageOf, type Reply, type Route, type RouteRequest } from '../server/route.js';

export interface TrashRouteDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly cursors: CursorCodec;
  readonly retentionDays: number;
}

/** Decisions, Trash, and wire contract 1.7; the operations take no body. */
export function trashRoutes(deps: TrashRouteDeps): Route[] {
  return [
    ...moveRoutes(deps, {
      path: '/v1/messages',
      kind: 'received',
      trash: 'trashMessage',
      restore: 'restoreMessage',
    }),
    ...moveRoutes(deps, {
      path: '/v1/sent',
      kind: 'sent',
      trash: 'trashSentMessage',
      restore: 'restoreSentMessage',
    }),
    {
      operationId: 'listTrash',
      method: 'GET',
      path: '/v1/inboxes/{inbox_id}/trash',
      auth: 'bearer',
      query: { names: ['limit', 'cursor'], invalid: 'invalid_search' },
      tag: 'trash',
      summary: 'List the messages in Trash',
      description:
        'Last trashed first, and only what can be restored: a page may be short before the last one.',
      responses: { 200: { description: 'A page of messages.', schema: TrashPage } },
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

/** The ways into Trash and out of it, for a kind of message. */
function moveRoutes(
  deps: TrashRouteDeps,
  names: {
    readonly path: string;
    readonly kind: MessageKind;
    readonly trash: string;
    readonly restore: string;
  },
): Route[] {
  const { kind } = names;
  return [
    {
      operationId: names.trash,
      method: 'POST',
      path: `${names.path}/{message_id}/trash`,
      auth: 'bearer',
      tag: 'trash',
      summary: `Move a ${names.kind} message to Trash`,
      description:
        'It is out of every list and count until it is restored. Send no body. A repeat changes nothing.',
      responses: { 200: { description: 'The message is in Trash.', schema: Trashed } },
      errors: ['operation_not_allowed', 'not_found', 'internal_error'],
      handle: async request => json(200, await trashMessage(deps, { ...messageOf(request), kind })),
    },
    {
      operationId: names.restore,
      method: 'POST',
      path: `${names.path}/{message_id}/restore`,
      auth: 'bearer',
      tag: 'trash',
      summary: `Bring a ${names.kind} message back from Trash`,
      description: 'With its labels and attachments. Send no body. A repeat changes nothing.',
      responses: { 200: { description: 'The message is live.', schema: Restored } },
      errors: ['operation_not_allowed', 'not_found', 'internal_error', 'content_unavailable'],
      handle: async request => json(200, await restoreMessage(deps, { ...messageOf(request), kind })),
    },
  ];
}

function list(deps: TrashRouteDeps, { account, params, query }: RouteRequest): Reply {
  const limit = readLimit(query);
  const inboxId = params.inbox_id ?? '';
  const cursor = query.get('cursor') ?? null;
  return json(200, listTrash(deps, { accountId: account.id, inboxId, limit, cursor }));
}
