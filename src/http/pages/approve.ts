import { isEmailAddress } from '../../domain/addresses.js';
import type { RateLimiter } from '../../usecases/ports.js';
import { approve, noteOpening, type ViewApprovalDeps, viewApproval } from '../../usecases/signup/approve.js';
import { PRESS_WINDOW_MS, RATE_LIMITS } from '../../usecases/signup/policy.js';
import type { ApprovalRequest } from '../../usecases/signup/request-approval.js';
import type { Reply } from '../server/route.js';
import { tooOften } from '../server/visitors.js';
import {
  askView,
  closedView,
  confirmView,
  sentView,
  staleView,
  type TypedEmail,
  wordsView,
} from './approve-views.js';
import type { BrowserForms } from './browser.js';
import { failureView } from './failure-view.js';
import type { Layout } from './layout.js';
import type { PageRequest, PageRoute } from './page-route.js';

export interface ApprovePageDeps extends ViewApprovalDeps {
  readonly layout: Layout;
  readonly forms: BrowserForms;
  readonly limiter: RateLimiter;
  /** Takes a request for a link and returns at once (`requestApproval` says why). */
  readonly offerRequest: (request: ApprovalRequest) => void;
}

/** Pages on which a human proves an address by a link in a mail, and approves. */
export function approvePages(deps: ApprovePageDeps): PageRoute[] {
  const { layout } = deps;
  const limit = RATE_LIMITS.approvals;
  return [
    { page: true, method: 'GET', path: '/approve', handle: request => ask(deps, request, null) },
    {
      page: true,
      method: 'POST',
      path: '/approve',
      limit,
      fields: ['email', 'seal'],
      handle: request => takeRequest(deps, request),
    },
    { page: true, method: 'GET', path: '/approve/sent', handle: () => sentView(layout) },
    ...linkPages(deps),
  ];
}

/** The page that a mailed link opens; with another proof than mail it only says so. */
export function linkPages(deps: ApprovePageDeps): PageRoute[] {
  const limit = RATE_LIMITS.approvals;
  const path = '/approve/link/{token}';
  return [
    { page: true, method: 'GET', path, limit, handle: request => openLink(deps, request) },
    { page: true, method: 'POST', path, limit, fields: ['seal'], handle: request => press(deps, request) },
  ];
}

const ASK = 'ask for a link';

function ask(deps: ApprovePageDeps, request: PageRequest, typed: TypedEmail | null): Reply {
  return askView(deps.layout, { ...deps.forms.give(request, 'form', ASK), typed });
}

/** Takes the same steps for every address: nothing here depends on whether the address is eligible. */
async function takeRequest(deps: ApprovePageDeps, request: PageRequest): Promise<Reply> {
  const { layout } = deps;
  if (deps.forms.givenAt(request, 'form', ASK) === null) return staleView(layout, layout.path('/approve'));
  const email = request.field('email').trim();
  if (!isEmailAddress(email)) {
    const problem =
      email === '' ? 'Enter your email address.' : 'Enter an email address like name@example.com.';
    return ask(deps, request, { value: email, problem });
  }
  const verdict = await deps.limiter.take(RATE_LIMITS.links, email.toLowerCase());
  if (!verdict.isAllowed) return failureView(layout, tooOften(verdict.retryAfterMs).failure);
  deps.offerRequest({ email, client: request.client });
  return layout.redirect(layout.path('/approve/sent'));
}

const purposeOf = (token: string): string => `approve with ${token}`;

/** Shows what a link grants. Opening it changes nothing, however often. */
function openLink(deps: ApprovePageDeps, request: PageRequest): Reply {
  const { layout, forms } = deps;
  const token = request.params.token ?? '';
  const view = viewApproval(deps, token);
  if (view.status !== 'open') return closedView(layout, view);
  if (request.method === 'GET') void noteOpening(deps, { token, client: request.client });
  return confirmView(layout, {
    ...forms.give(request, 'link', purposeOf(token)),
    offer: view,
    action: layout.path(`/approve/link/${token}`),
    minutes: PRESS_WINDOW_MS / 60_000,
  });
}

/** Approve was pressed. The seal proves when the page was opened and that it was opened in this browser. */
async function press(deps: ApprovePageDeps, request: PageRequest): Promise<Reply> {
  const { layout, forms } = deps;
  const token = request.params.token ?? '';
  const again = layout.path(`/approve/link/${encodeURIComponent(token)}`);
  const openedAt = forms.givenAt(request, 'link', purposeOf(token));
  if (openedAt === null) return staleView(layout, again);
  const outcome = await approve(deps, { token, openedAt, client: request.client });
  switch (outcome.status) {
    case 'approved':
      return wordsView(layout, outcome);
    case 'window_over':
      return staleView(layout, again);
    default:
      return closedView(layout, outcome);
  }
}
