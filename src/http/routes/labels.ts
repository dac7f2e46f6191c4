import { z } from 'zod';
import type { CursorCodec } from '../../domain/cursor.js';
import { MAX_LABELS } from '../../domain/labels.js';
import type { Store } from '../../store/store.js';
import { changeLabels, changeLabelsInBatch } from '../../usecases/change-labels.js';
import { listLabels } from '../../usecases/list-labels.js';
import { receivedMessages } from '../../usecases/message-access.js';
import { readLimit } from '../query.js';
import { failed, jsonOrFailure, messageOf, type Reply, type Route, type RouteRequest } from '../route.js';

export interface LabelRouteDeps {
  readonly store: Store;
  readonly cursors: CursorCodec;
}

const CHANGE_LIMIT = 20_480;
const BATCH_LIMIT = 32_768;

const labels = z.array(z.string()).max(MAX_LABELS).optional();
const changeBody = z.strictObject({ add_labels: labels, remove_labels: labels });
const batchBody = z.strictObject({
  message_ids: z.array(z.string()),
  add_labels: labels,
  remove_labels: labels,
});

/** Wire contract 1.2 and 1.3: labels of received mail, and the labels in use. */
export function labelRoutes(deps: LabelRouteDeps): Route[] {
  const received = { store: deps.store, access: receivedMessages };
  return [
    {
      operationId: 'updateMessageLabels',
      method: 'PATCH',
      path: '/v1/messages/{message_id}',
      auth: 'bearer',
      body: { limitBytes: CHANGE_LIMIT, schema: changeBody, invalid: 'invalid_labels' },
      successes: [200],
      errors: ['invalid_labels', 'not_found', 'internal_error'],
      handle: async request => {
        const change = request.body as z.infer<typeof changeBody>;
        const input = { ...messageOf(request), ...arrays(change) };
        return jsonOrFailure(await changeLabels(received, input), 200);
      },
    },
    {
      operationId: 'bulkUpdateMessageLabels',
      method: 'PATCH',
      path: '/v1/messages/labels',
      auth: 'bearer',
      body: {
        limitBytes: BATCH_LIMIT,
        schema: batchBody,
        invalid: 'invalid_labels',
        fieldCodes: { message_ids: 'invalid_message_ids' },
      },
      successes: [200],
      errors: ['invalid_labels', 'invalid_message_ids', 'not_found', 'internal_error'],
      handle: async ({ account, body }) => {
        const change = body as z.infer<typeof batchBody>;
        const input = { accountId: account.id, messageIds: change.message_ids, ...arrays(change) };
        return jsonOrFailure(await changeLabelsInBatch(received, input), 200, messages => ({ messages }));
      },
    },
    {
      operationId: 'listLabels',
      method: 'GET',
      path: '/v1/inboxes/{inbox_id}/labels',
      auth: 'bearer',
      query: {
        names: ['limit', 'cursor', 'prefix'],
        invalid: 'invalid_search',
        nameCodes: { prefix: 'invalid_labels' },
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
      handle: request => list(deps, request),
    },
  ];
}

function arrays(change: { add_labels?: string[] | undefined; remove_labels?: string[] | undefined }) {
  return { addLabels: change.add_labels ?? [], removeLabels: change.remove_labels ?? [] };
}

function list(deps: LabelRouteDeps, { account, params, query }: RouteRequest): Reply {
  const limit = readLimit(query);
  if (!limit.ok) return failed(limit);
  const found = listLabels(deps, {
    accountId: account.id,
    inboxId: params.inbox_id ?? '',
    prefix: query.get('prefix') ?? '',
    limit: limit.value,
    cursor: query.get('cursor') ?? null,
  });
  return jsonOrFailure(found, 200);
}
