import { INBOX_OPERATIONS } from '../../contract/inboxes.js';
import { type CreateInboxDeps, createInbox } from '../../usecases/inboxes/create-inbox.js';
import { deleteInbox, getInbox, listInboxes, updateInbox } from '../../usecases/inboxes/inboxes.js';
import { readPolicy } from '../../usecases/inboxes/policies.js';
import { created, inboxOf, json, type Route, routes } from '../server/route.js';

/** Inboxes and their read-only policies. */
export function inboxRoutes(deps: CreateInboxDeps): Route[] {
  return routes(INBOX_OPERATIONS, {
    listInboxes: ({ account }) => json(200, listInboxes(deps, account.id)),
    createInbox: async ({ account, body }) => {
      const inbox = await createInbox(deps, { ...body, accountId: account.id });
      return created(inbox, `/v1/inboxes/${inbox.id}`);
    },
    getInbox: ({ account, params }) => json(200, getInbox(deps, account.id, params.inbox_id)),
    updateInbox: async request =>
      json(200, await updateInbox(deps, { ...request.body, ...inboxOf(request) })),
    deleteInbox: async request => json(202, await deleteInbox(deps, inboxOf(request))),
    getSendingPolicy: ({ account, params }) =>
      json(200, readPolicy(deps, account.id, params.inbox_id, 'sending')),
    getReceivingPolicy: ({ account, params }) =>
      json(200, readPolicy(deps, account.id, params.inbox_id, 'receiving')),
  });
}
