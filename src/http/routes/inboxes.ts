import { Deleted } from '../../contract/common.js';
import {
  CreateInbox,
  FirstCreatedInbox,
  Inbox,
  InboxList,
  Policy,
  ReplayedCreatedInbox,
  UpdateInbox,
} from '../../contract/inboxes.js';
import { SMALL_BODY_BYTES } from '../../contract/limits.js';
import { type CreateInboxDeps, createInbox } from '../../usecases/inboxes/create-inbox.js';
import { deleteInbox, getInbox, listInboxes, updateInbox } from '../../usecases/inboxes/inboxes.js';
import { readPolicy } from '../../usecases/inboxes/policies.js';
import { json, type Route } from '../server/route.js';

const inboxPath = '/v1/inboxes/{inbox_id}';

const NAME_CODES = { name: 'invalid_name', sender_name: 'invalid_name' } as const;

/** Wire contract 1.1: inboxes and their read-only policies. */
export function inboxRoutes(deps: CreateInboxDeps): Route[] {
  return [
    {
      operationId: 'listInboxes',
      method: 'GET',
      path: '/v1/inboxes',
      auth: 'bearer',
      tag: 'inboxes',
      summary: 'List the inboxes of the account',
      description: 'Not paginated. List before you create one, and after a creation whose answer was lost.',
      responses: { 200: { description: 'The inboxes and the slots of the account.', schema: InboxList } },
      errors: ['not_found', 'internal_error'],
      handle: ({ account }) => json(200, listInboxes(deps, account.id)),
    },
    createRoute(deps),
    ...inboxResourceRoutes(deps),
    policyRoute(deps, 'sending'),
    policyRoute(deps, 'receiving'),
  ];
}

function inboxResourceRoutes(deps: CreateInboxDeps): Route[] {
  return [
    {
      operationId: 'getInbox',
      method: 'GET',
      path: inboxPath,
      auth: 'bearer',
      tag: 'inboxes',
      summary: 'Get an inbox',
      responses: { 200: { description: 'The inbox.', schema: Inbox } },
      errors: ['not_found', 'internal_error'],
      handle: ({ account, params }) => json(200, getInbox(deps, account.id, params.inbox_id ?? '')),
    },
    {
      operationId: 'updateInbox',
      method: 'PATCH',
      path: inboxPath,
      auth: 'bearer',
      body: {
        limitBytes: SMALL_BODY_BYTES,
        schema: UpdateInbox,
        invalid: 'invalid_inbox',
        fieldCodes: NAME_CODES,
      },
      tag: 'inboxes',
      summary: 'Change the names of an inbox',
      description: 'A changed sender name stands in later mail only. The address never changes.',
      responses: { 200: { description: 'The inbox as it is now.', schema: Inbox } },
      errors: ['invalid_inbox', 'invalid_name', 'not_found', 'internal_error'],
      handle: async ({ account, params, body }) => {
        const change = body as UpdateInbox;
        const input = {
          accountId: account.id,
          inboxId: params.inbox_id ?? '',
          ...change,
        };
        return json(200, await updateInbox(deps, input));
      },
    },
    {
      operationId: 'deleteInbox',
      method: 'DELETE',
      path: inboxPath,
      auth: 'bearer',
      tag: 'inboxes',
      summary: 'Delete an inbox with all it holds',
      description: 'There is no way back: its mail is gone, its slot free, and its address retired for ever.',
      responses: { 202: { description: 'The inbox is out of reach from now on.', schema: Deleted } },
      errors: ['operation_not_allowed', 'not_found', 'protected_inbox', 'internal_error'],
      handle: async ({ account, params }) =>
        json(202, await deleteInbox(deps, { accountId: account.id, inboxId: params.inbox_id ?? '' })),
    },
  ];
}

function createRoute(deps: CreateInboxDeps): Route {
  return {
    operationId: 'createInbox',
    method: 'POST',
    path: '/v1/inboxes',
    auth: 'bearer',
    body: {
      limitBytes: SMALL_BODY_BYTES,
      schema: CreateInbox,
      invalid: 'invalid_inbox',
      fieldCodes: {
        ...NAME_CODES,
        local_part: 'invalid_local_part',
        idempotency_key: 'invalid_idempotency_key',
      },
    },
    tag: 'inboxes',
    summary: 'Create an inbox',
    description: 'With an idempotency key a lost answer is recovered by the same request.',
    responses: {
      201: { description: 'The inbox was created.', schema: FirstCreatedInbox, headers: ['Location'] },
      200: {
        description: 'An earlier request with this key created the inbox; shown as it is now.',
        schema: ReplayedCreatedInbox,
        headers: ['Location'],
      },
    },
    errors: [
      'invalid_inbox',
      'invalid_local_part',
      'invalid_name',
      'invalid_idempotency_key',
      'not_found',
      'address_unavailable',
      'inbox_limit_reached',
      'idempotency_conflict',
      'idempotency_result_unavailable',
      'internal_error',
    ],
    handle: async ({ account, body }) => {
      const input = body as CreateInbox;
      const created = await createInbox(deps, {
        accountId: account.id,
        ...input,
      });
      const status = created.replayed === true ? 200 : 201;
      return json(status, created, { Location: `/v1/inboxes/${created.id}` });
    },
  };
}

function policyRoute(deps: CreateInboxDeps, kind: 'sending' | 'receiving'): Route {
  return {
    operationId: kind === 'sending' ? 'getSendingPolicy' : 'getReceivingPolicy',
    method: 'GET',
    path: `${inboxPath}/${kind}-policy`,
    auth: 'bearer',
    tag: 'inboxes',
    summary: kind === 'sending' ? 'Get whom an inbox may write to' : 'Get whom an inbox takes no mail from',
    description: 'To be read only: humans and admins change it.',
    responses: { 200: { description: 'The rules.', schema: Policy } },
    errors: ['not_found', 'internal_error'],
    handle: ({ account, params }) => json(200, readPolicy(deps, account.id, params.inbox_id ?? '', kind)),
  };
}
