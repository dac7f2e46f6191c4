import {
  BulkLabelChange,
  BulkLabelResult,
  LabelChange,
  LabelList,
  LabelResult,
} from '../../contract/labels.js';
import type { CursorCodec } from '../../domain/paging.js';
import type { Store } from '../../store/engine/store.js';
import type { MessageKind } from '../../store/mailbox/mailboxes.js';
import { changeLabels, changeLabelsInBatch } from '../../usecases/mailbox/change-messages.js';
import { listLabels } from '../../usecases/mailbox/list-labels.js';
import { readLimit } from '../server/query.js';
import { json, messageOf, type Reply, type Route, type RouteRequest } from '../server/route.js';

export interface LabelRouteDeps {
  readonly store: Store;
  readonly cursors: CursorCodec;
}

export const CHANGE_LIMIT = 20_480;
const BATCH_LIMIT = 32_768;

/** Wire contract 1.2 and 1.3: labels of messages, and the labels in use. */
export function labelRoutes(deps: LabelRouteDeps): Route[] {
  return [
    ...changeRoutes(deps, {
      path: '/v1/messages',
      kind: 'received',
      one: 'updateMessageLabels',
      batch: 'bulkUpdateMessageLabels',
    }),
    ...changeRoutes(deps, {
      path: '/v1/sent',
      kind: 'sent',
      one: 'updateSentMessageLabels',
      batch: 'bulkUpdateSentLabels',
    }),
    listRoute(deps),
  ];
}

/** Changes of one message and of a batch, for a kind of message. */
function changeRoutes(
  deps: LabelRouteDeps,
  names: {
    readonly path: string;
    readonly kind: MessageKind;
    readonly one: string;
    readonly batch: string;
  },
): Route[] {
  const { kind } = names;
  return [
    {
      operationId: names.one,
      method: 'PATCH',
      path: `${names.path}/{message_id}`,
      auth: 'bearer',
      body: { limitBytes: CHANGE_LIMIT, schema: LabelChange, invalid: 'invalid_labels' },
      tag: 'labels',
      summary: `Add and remove labels of a ${names.kind} message`,
      description: 'Both apply together, other labels stay, and a repeat changes nothing.',
      responses: { 200: { description: 'The labels of the message now.', schema: LabelResult } },
      errors: ['invalid_labels', 'not_found', 'internal_error'],
      handle: async request => {
        const change = request.body as LabelChange;
        const input = { ...messageOf(request), kind, ...change };
        return json(200, await changeLabels(deps, input));
      },
    },
    {
      operationId: names.batch,
      method: 'PATCH',
      path: `${names.path}/labels`,
      auth: 'bearer',
      body: {
        limitBytes: BATCH_LIMIT,
        schema: BulkLabelChange,
        invalid: 'invalid_labels',
        fieldCodes: { message_ids: 'invalid_message_ids' },
      },
      tag: 'labels',
      summary: `Add and remove labels of many ${names.kind} messages`,
      description:
        'All or nothing, over all inboxes of the account. If one message cannot be found, none is changed.',
      responses: {
        200: {
          description: 'One entry for each distinct message, in the order of the request.',
          schema: BulkLabelResult,
        },
      },
      errors: ['invalid_labels', 'invalid_message_ids', 'not_found', 'internal_error'],
      handle: async ({ account, body }) => {
        const change = body as BulkLabelChange;
        const input = { accountId: account.id, kind, ...change };
        return json(200, { messages: await changeLabelsInBatch(deps, input) });
      },
    },
  ];
}

function listRoute(deps: LabelRouteDeps): Route {
  return {
    operationId: 'listLabels',
    method: 'GET',
    path: '/v1/inboxes/{inbox_id}/labels',
    auth: 'bearer',
    query: {
      names: ['limit', 'cursor', 'prefix'],
      invalid: 'invalid_search',
      nameCodes: { prefix: 'invalid_labels' },
    },
    tag: 'labels',
    summary: 'List the labels in use in an inbox',
    description: 'A name is there as long as a message has it; there is no registry of labels.',
    responses: { 200: { description: 'A page of names with their counts.', schema: LabelList } },
    errors: [
      'invalid_limit',
      'invalid_cursor',
      'invalid_search',
      'invalid_labels',
      'not_found',
      'internal_error',
    ],
    handle: request => list(deps, request),
  };
}

function list(deps: LabelRouteDeps, { account, params, query }: RouteRequest): Reply {
  const limit = readLimit(query);
  const found = listLabels(deps, {
    accountId: account.id,
    inboxId: params.inbox_id ?? '',
    prefix: query.get('prefix') ?? '',
    limit,
    cursor: query.get('cursor') ?? null,
  });
  return json(200, found);
}
