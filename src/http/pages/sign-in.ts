import type { SignIn } from '../../usecases/ports.js';
import { type ApprovalOffer, approve, viewApproval } from '../../usecases/signup/approve.js';
import { RATE_LIMITS } from '../../usecases/signup/policy.js';
import { type AcceptSignInDeps, acceptSignIn } from '../../usecases/signup/request-approval.js';
import type { PageHeaders, Reply } from '../server/route.js';
import { closedView, confirmView, staleView, wordsView } from './approve-views.js';
import type { BrowserForms } from './browser.js';
import type { CookieJar } from './cookies.js';
import type { Layout } from './layout.js';
import type { PageRequest, PageRoute } from './page-route.js';
import { refusedView, signInView, unavailableView } from './sign-in-views.js';

export interface SignInPageDeps extends AcceptSignInDeps {
  readonly layout: Layout;
  readonly forms: BrowserForms;
  readonly cookies: CookieJar;
  readonly signIn: SignIn;
}

/** Path of the redirect URI, below the public URL. */
export const CALLBACK_PATH = '/approve/oidc/callback';
const START_PATH = '/approve/oidc';
const CONFIRM_PATH = '/approve/confirm';

/**
 * Cookies of a sign-in: first the key of the flow that this browser began, then the token that it got. They are `Lax`
 * because the browser comes back from the provider's site, where `Strict` cookies are not sent along. Alone they grant
 * nothing: approving also takes the seal of the page.
 */
const FLOW = 'flow';
const SIGNED_IN = 'signed-in';
const FLOW_AGE_S = 10 * 60;
const SIGNED_IN_AGE_S = 15 * 60;

/** Pages on which a human signs in with a provider, and approves. */
export function signInPages(deps: SignInPageDeps): PageRoute[] {
  const { layout, signIn } = deps;
  const limit = RATE_LIMITS.approvals;
  const start = signInView(layout, signIn.provider, layout.path(START_PATH));
  return [
    { page: true, method: 'GET', path: '/approve', handle: () => start },
    { page: true, method: 'GET', path: START_PATH, limit, handle: request => begin(deps, request, start) },
    {
      page: true,
      method: 'GET',
      path: CALLBACK_PATH,
      limit,
      handle: request => comeBack(deps, request, start),
    },
    { page: true, method: 'GET', path: CONFIRM_PATH, handle: request => confirm(deps, request) },
    {
      page: true,
      method: 'POST',
      path: CONFIRM_PATH,
      limit,
      fields: ['seal'],
      handle: request => press(deps, request),
    },
  ];
}

/** Redirects the browser to the provider; only from our own page, and not for a HEAD request. */
async function begin(deps: SignInPageDeps, request: PageRequest, start: Reply): Promise<Reply> {
  const isOwn = request.site === null || request.site === 'same-origin' || request.site === 'none';
  if (!isOwn || request.method === 'HEAD') return start;
  const begun = await deps.signIn.begin();
  if (begun.status === 'unavailable') return unavailableView(deps.layout, deps.signIn.provider);
  const cookie = deps.cookies.set(FLOW, begun.flow, { sameSite: 'Lax', maxAgeS: FLOW_AGE_S });
  return deps.layout.redirect(begun.url, { 'Set-Cookie': cookie });
}

/**
 * Handles the return from the provider. An attacker who leads a victim here with the attacker's own code fails: the
 * victim's browser has no flow cookie of that sign-in (login CSRF).
 */
async function comeBack(deps: SignInPageDeps, request: PageRequest, start: Reply): Promise<Reply> {
  if (request.method === 'HEAD') return start;
  const { layout, cookies, signIn } = deps;
  const flow = request.cookie(cookies.name(FLOW));
  const forget = cookies.clear(FLOW, 'Lax');
  const outcome = await signIn.finish({ query: request.queryText, flow });
  if (outcome.status === 'refused') {
    return refusedView(layout, signIn.provider, outcome.reason, { 'Set-Cookie': forget });
  }
  const { email, authenticatedAt } = outcome;
  const accepted = await acceptSignIn(deps, { email, authenticatedAt, client: request.client });
  if (accepted.status !== 'accepted') {
    return closedView(layout, { status: 'not_eligible' }, { 'Set-Cookie': forget });
  }
  const keep = cookies.set(SIGNED_IN, accepted.token, { sameSite: 'Lax', maxAgeS: SIGNED_IN_AGE_S });
  return layout.redirect(layout.path(CONFIRM_PATH), { 'Set-Cookie': [forget, keep] });
}

const purposeOf = (token: string): string => `approve after sign-in ${token}`;

function confirm(deps: SignInPageDeps, request: PageRequest): Reply {
  const { layout, forms, cookies } = deps;
  const token = request.cookie(cookies.name(SIGNED_IN)) ?? '';
  const view = viewApproval(deps, token);
  if (view.status !== 'open') return ended(deps, view.status);
  return confirmView(layout, {
    ...forms.give(request, 'confirm', purposeOf(token)),
    offer: view,
    action: layout.path(CONFIRM_PATH),
    minutes: minutesLeft(deps, view),
  });
}

function minutesLeft({ clock }: SignInPageDeps, { expiresAt }: ApprovalOffer): number {
  return Math.max(1, Math.floor((expiresAt - clock()) / 60_000));
}

async function press(deps: SignInPageDeps, request: PageRequest): Promise<Reply> {
  const { layout, forms, cookies } = deps;
  const token = request.cookie(cookies.name(SIGNED_IN)) ?? '';
  const openedAt = forms.givenAt(request, 'confirm', purposeOf(token));
  if (openedAt === null) return staleView(layout, layout.path('/approve'));
  const outcome = await approve(deps, { token, openedAt, client: request.client });
  if (outcome.status === 'approved') return wordsView(layout, outcome);
  return outcome.status === 'window_over'
    ? staleView(layout, layout.path('/approve'))
    : ended(deps, outcome.status);
}

/** The page for a sign-in that can no longer approve; deletes its cookie. */
function ended(
  { layout, signIn, cookies }: SignInPageDeps,
  status: 'unknown' | 'expired' | 'used' | 'not_eligible',
): Reply {
  const headers: PageHeaders = { 'Set-Cookie': cookies.clear(SIGNED_IN, 'Lax') };
  switch (status) {
    case 'unknown':
    case 'expired':
      return refusedView(layout, signIn.provider, 'too_long_ago', headers);
    case 'used':
      return refusedView(layout, signIn.provider, 'used', headers);
    case 'not_eligible':
      return closedView(layout, { status }, headers);
  }
}
