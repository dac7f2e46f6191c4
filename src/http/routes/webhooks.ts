import { WEBHOOK_OPERATIONS } from '../../contract/webhooks.js';
import type { AccountRecord } from '../../store/records/accounts.js';
import { listWebhookDeliveries } from '../../usecases/webhooks/list-webhook-deliveries.js';
import { type ReplayDeps, replayWebhook } from '../../usecases/webhooks/replay-webhook.js';
import { type TestWebhookDeps, testWebhook } from '../../usecases/webhooks/test-webhook.js';
import {
  createWebhook,
  deleteWebhook,
  getWebhookOf,
  listWebhooks,
  rotateSecret,
  updateWebhook,
  type WebhookDeps,
} from '../../usecases/webhooks/webhooks.js';
import { json, type Route, routes } from '../server/route.js';

export type WebhookRouteDeps = WebhookDeps & TestWebhookDeps & ReplayDeps;

/** Endpoints that are told of events. */
export function webhookRoutes(deps: WebhookRouteDeps): Route[] {
  return routes(WEBHOOK_OPERATIONS, {
    listWebhooks: ({ account }) => json(200, listWebhooks(deps, account.id)),
    createWebhook: async ({ account, body }) => {
      const webhook = await createWebhook(deps, { ...body, accountId: account.id });
      return json(201, webhook, { Location: `/v1/webhooks/${webhook.id}` });
    },
    getWebhook: request => json(200, getWebhookOf(deps, webhookOf(request))),
    updateWebhook: async request =>
      json(200, await updateWebhook(deps, { ...request.body, ...webhookOf(request) })),
    deleteWebhook: async request => json(202, await deleteWebhook(deps, webhookOf(request))),
    rotateWebhookSecret: async request => json(200, await rotateSecret(deps, webhookOf(request))),
    testWebhook: async request => json(200, await testWebhook(deps, webhookOf(request))),
    listWebhookDeliveries: request => json(200, listWebhookDeliveries(deps, webhookOf(request))),
    replayWebhook: async request =>
      json(200, await replayWebhook(deps, { ...webhookOf(request), after: request.body.after })),
  });
}

function webhookOf({
  account,
  params,
}: {
  readonly account: AccountRecord;
  readonly params: { readonly webhook_id: string };
}): { readonly caller: { readonly accountId: AccountRecord['id'] }; readonly webhookId: string } {
  return { caller: { accountId: account.id }, webhookId: params.webhook_id };
}
