import { z } from 'zod';
import { type CreateInboxDeps, createInbox } from '../../usecases/create-inbox.js';
import { deleteInbox } from '../../usecases/delete-inbox.js';
import { getInbox, listInboxes, readPolicy } from '../../usecases/read-inboxes.js';
import { updateInbox } from '../../usecases/update-inbox.js';
import { failed, json, jsonOrFailure, type Route } from '../route.js';

const BODY_LIMIT = 4096;

const name = z.string().nullable().optional();

const createBody = z.strictObject({
  local_part: z.string(),
  domain: z.string().nullable().optional(),
  name,
  sender_name: name,
  idempotency_key: z.string().optional(),
});

const updateBody = z.strictObject({ name, sender_name: name });

const NAME_CODES = { name: 'invalid_name', sender_name: 'invalid_name' } as const;

/** Wire contract 1.1: inboxes and their read-only policies. */
export function inboxRoutes(deps: CreateInboxDeps): Route[] {
  const inboxPath = '/v1/inboxes/{inbox_id}';
  return [
    {
      operationId: 'listInboxes',
      method: 'GET',
      path: '/v1/inboxes',
      auth: 'bearer',
      successes: [200],
      errors: ['not_found', 'internal_error'],
      handle: ({ account }) => jsonOrFailure(listInboxes(deps, account.id), 200),
    },
    createRoute(deps),
    {
      operationId: 'getInbox',
      method: 'GET',
      path: inboxPath,
      auth: 'bearer',
      successes: [200],
      errors: ['not_found', 'internal_error'],
      handle: ({ account, params }) => jsonOrFailure(getInbox(deps, account.id, params.inbox_id ?? ''), 200),
    },
    {
      operationId: 'updateInbox',
      method: 'PATCH',
      path: inboxPath,
      auth: 'bearer',
      body: { limitBytes: BODY_LIMIT, schema: updateBody, invalid: 'invalid_inbox', fieldCodes: NAME_CODES },
      successes: [200],
      errors: ['invalid_inbox', 'invalid_name', 'not_found', 'internal_error'],
      handle: async ({ account, params, body }) => {
        const change = body as z.infer<typeof updateBody>;
        const input = {
          accountId: account.id,
          inboxId: params.inbox_id ?? '',
          name: change.name,
          senderName: change.sender_name,
        };
        return jsonOrFailure(await updateInbox(deps, input), 200);
      },
    },
    {
      operationId: 'deleteInbox',
      method: 'DELETE',
      path: inboxPath,
      auth: 'bearer',
      successes: [202],
      errors: ['operation_not_allowed', 'not_found', 'protected_inbox', 'internal_error'],
      handle: async ({ account, params }) =>
        jsonOrFailure(
          await deleteInbox(deps, { accountId: account.id, inboxId: params.inbox_id ?? '' }),
          202,
        ),
    },
    ...(['sending', 'receiving'] as const).map(kind => policyRoute(deps, kind, inboxPath)),
  ];
}

function createRoute(deps: CreateInboxDeps): Route {
  return {
    operationId: 'createInbox',
    method: 'POST',
    path: '/v1/inboxes',
    auth: 'bearer',
    body: {
      limitBytes: BODY_LIMIT,
      schema: createBody,
      invalid: 'invalid_inbox',
      fieldCodes: {
        ...NAME_CODES,
        local_part: 'invalid_local_part',
        idempotency_key: 'invalid_idempotency_key',
      },
    },
    successes: [201, 200],
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
      const input = body as z.infer<typeof createBody>;
      const created = await createInbox(deps, {
        accountId: account.id,
        localPart: input.local_part,
        domain: input.domain,
        name: input.name,
        senderName: input.sender_name,
        idempotencyKey: input.idempotency_key,
      });
      if (!created.ok) return failed(created);
      const status = created.value.replayed === true ? 200 : 201;
      return json(status, created.value, { Location: `/v1/inboxes/${created.value.id}` });
    },
  };
}

function policyRoute(deps: CreateInboxDeps, kind: 'sending' | 'receiving', inboxPath: string): Route {
  return {
    operationId: kind === 'sending' ? 'getSendingPolicy' : 'getReceivingPolicy',
    method: 'GET',
    path: `${inboxPath}/${kind}-policy`,
    auth: 'bearer',
    successes: [200],
    errors: ['not_found', 'internal_error'],
    handle: ({ account, params }) =>
      jsonOrFailure(readPolicy(deps, account.id, params.inbox_id ?? '', kind), 200),
  };
}
