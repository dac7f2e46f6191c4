import type { SignInOutcome } from '../../usecases/ports.js';
import type { PageHeaders, Reply } from '../server/route.js';
import { html } from './html.js';
import type { Layout } from './layout.js';

/** The first page: asks the human to sign in, which tells whose account it is. */
export function signInView(layout: Layout, provider: string, start: string): Reply {
  const { name } = layout.service;
  const body = html`
<p>An AI agent can use your ${name} account when you approve it. Sign in, to show that the account is yours.</p>
<p><a class="button" href="${start}">Sign in with ${provider}</a></p>
<h2>What happens then</h2>
<ol>
<li>You sign in. That grants nothing.</li>
<li>You read what will be granted, and press Approve.</li>
<li>You get six words, and hand them to the agent of your choice.</li>
</ol>`;
  return layout.page({ title: 'Approve access for an AI agent', body });
}

export function unavailableView(layout: Layout, provider: string): Reply {
  const body = html`
<p>${provider} does not answer us at this moment. Nothing was granted.</p>
<p><a class="button" href="${layout.path('/approve')}">Try again</a></p>`;
  return layout.page({ status: 503, title: 'Sign-in is not possible now', body });
}

type Reason = Extract<SignInOutcome, { status: 'refused' }>['reason'] | 'used';

const REASONS: Record<Reason, string> = {
  not_begun_here:
    'This browser did not begin it, took too long, or has used it already. Sign in from our own page.',
  denied: 'You, or the provider, ended it.',
  email_not_verified:
    'The provider has not verified that your email address is yours. See to that there first.',
  too_long_ago: 'More than 15 minutes have passed since you signed in. Nothing was granted.',
  not_valid: 'What came back was not in order. If it happens again, tell whoever runs this service.',
  used: 'You approved with it and were shown six words, once. Sign in again for others.',
};

/** Says that a sign-in failed, and why. */
export function refusedView(
  layout: Layout,
  provider: string,
  reason: Reason,
  headers: PageHeaders = {},
): Reply {
  const body = html`
<p>${REASONS[reason]}</p>
<p><a class="button" href="${layout.path('/approve')}">Sign in with ${provider} again</a></p>`;
  const title = reason === 'used' ? 'This sign-in has been used' : 'You are not signed in';
  return layout.page({ status: reason === 'used' ? 410 : 403, title, body, headers });
}
