import type { SubmitFeedbackDeps } from '../../usecases/accounts/feedback.js';
import type { EventDeps } from '../../usecases/events/list-events.js';
import type { CreateInboxDeps } from '../../usecases/inboxes/create-inbox.js';
import type { SearchDeps } from '../../usecases/search/search-messages.js';
import type { SendDeps } from '../../usecases/sending/submit-send.js';
import type { DescribedService } from '../openapi/openapi-document.js';
import { PageCache } from '../server/list-page.js';
import type { Route } from '../server/route.js';
import { draftRoutes } from './drafts.js';
import { eventRoutes } from './events.js';
import { feedbackRoutes } from './feedback.js';
import { inboxRoutes } from './inboxes.js';
import { labelRoutes } from './labels.js';
import { messageRoutes } from './messages.js';
import { sendingRoutes, sentRoutes } from './sending.js';
import { withServiceRoutes } from './service.js';
import { type SignupRouteDeps, signupRoutes } from './signups.js';
import { threadRoutes } from './threads.js';
import { trashRoutes } from './trash.js';
import { uploadRoutes } from './uploads.js';
import { type WebhookRouteDeps, webhookRoutes } from './webhooks.js';

export interface ApiDeps {
  readonly service: DescribedService;
  readonly isReady: () => Promise<boolean>;
  readonly inboxes: CreateInboxDeps;
  readonly send: SendDeps;
  readonly search: SearchDeps;
  readonly events: EventDeps;
  readonly webhooks: WebhookRouteDeps;
  readonly retentionDays: number;
  readonly signup: SignupRouteDeps;
  readonly feedback: SubmitFeedbackDeps;
}

/** Size of the cache of encoded list pages, for all inboxes together. */
const PAGE_CACHE_BYTES = 8 * 2 ** 20;

/** Every route of the daemon, `/openapi.json` included. */
export function apiRoutes(deps: ApiDeps): Route[] {
  const { send, search } = deps;
  const { cursors } = search;
  const { store, clock } = send;
  const pages = new PageCache(PAGE_CACHE_BYTES);
  return withServiceRoutes(deps.service, deps.isReady, [
    ...inboxRoutes(deps.inboxes),
    ...messageRoutes({ clock, pages, events: deps.events, ...search }),
    ...sendingRoutes(send),
    ...sentRoutes({ send, search, pages }),
    ...draftRoutes({ send, cursors }),
    ...uploadRoutes(send),
    ...labelRoutes({ store, cursors }),
    ...threadRoutes({ clock, retentionDays: deps.retentionDays, ...search }),
    ...eventRoutes(deps.events),
    ...webhookRoutes(deps.webhooks),
    ...trashRoutes({ store, clock, cursors, retentionDays: deps.retentionDays }),
    ...signupRoutes(deps.signup),
    ...feedbackRoutes(deps.feedback),
  ]);
}
