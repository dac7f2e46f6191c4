import { MAX_ADDRESS_LENGTH } from '../../contract/limits.js';
import { toInstant } from '../../domain/instants.js';
import type { ApprovalOffer, ApprovalState } from '../../usecases/signup/approve.js';
import type { PageHeaders, Reply } from '../server/route.js';
import { type Html, html } from './html.js';
import type { Layout } from './layout.js';

/** An address as typed, and what is wrong with it. */
export interface TypedEmail {
  readonly value: string;
  readonly problem: string;
}

/** The first page: which address shall the link go to? */
export function askView(
  layout: Layout,
  input: { readonly seal: string; readonly headers: PageHeaders; readonly typed: TypedEmail | null },
): Reply {
  const { seal, headers, typed } = input;
  const { name } = layout.service;
  const invalid = typed === null ? null : html` aria-invalid="true" aria-describedby="problem hint"`;
  const body = html`
${typed === null ? null : problemSummary(typed.problem)}
<p>An AI agent can use your ${name} account when you approve it. To show that the account is yours, ask for a link by mail.</p>
<form method="post" action="${layout.path('/approve')}" novalidate>
<label for="email">Your email address</label>
<p class="hint" id="hint">The one that your account is, or will be, kept under.</p>
${typed === null ? null : html`<p class="error" id="problem">${typed.problem}</p>`}
<input id="email" name="email" type="email" autocomplete="email" maxlength="${MAX_ADDRESS_LENGTH}" required value="${typed?.value ?? ''}"${invalid ?? html` aria-describedby="hint"`}>
<input type="hidden" name="seal" value="${seal}">
<button type="submit">Send me a link</button>
</form>
<h2>What happens then</h2>
<ol>
<li>You open the link in the mail. That grants nothing.</li>
<li>You read what will be granted, and press Approve.</li>
<li>You get six words, and hand them to the agent of your choice.</li>
</ol>`;
  const isError = typed !== null;
  return layout.page({
    status: isError ? 400 : 200,
    title: 'Approve access for an AI agent',
    body,
    headers,
    isError,
  });
}

function problemSummary(problem: string): Html {
  return html`<div class="problem" role="alert" tabindex="-1" autofocus>
<h2>There is a problem</h2>
<ul><li><a href="#email">${problem}</a></li></ul>
</div>`;
}

/** Says that a link was sent, in the same words for every address. */
export function sentView(layout: Layout): Reply {
  const body = html`
<p>If that address may have access, a mail with a link is on its way to it. It should arrive within a few minutes.</p>
<p>The link works for 12 hours. You can close this page.</p>
<h2>No mail?</h2>
<ul>
<li>Look where your mail program puts spam.</li>
<li><a href="${layout.path('/approve')}">Ask again</a>, and check how the address is spelled.</li>
<li>If still none comes, ask whoever runs ${layout.service.name} whether your address may have access.</li>
</ul>`;
  return layout.page({ title: 'Check your mail', body });
}

/** The account, what will be granted, and the Approve button. */
export function confirmView(
  layout: Layout,
  input: {
    readonly offer: ApprovalOffer;
    readonly action: string;
    readonly seal: string;
    readonly headers: PageHeaders;
    readonly minutes: number;
  },
): Reply {
  const { offer, action, seal, headers, minutes } = input;
  const back = offer.method === 'mail' ? 'open the link in the mail again' : 'sign in again';
  const body = html`
<p>You have shown that this email address is yours: <strong>${offer.email}</strong></p>
<h2>What you grant</h2>
<ul>
<li>One agent of your choice gets a key to your whole ${layout.service.name} account.</li>
${reach(offer)}
<li>The key works until it is revoked. Keys that agents have already keep working.</li>
</ul>
<p class="note">Nothing has been granted yet. You have ${minutes === 1 ? 'a minute' : `${minutes} minutes`} to press Approve; after that, ${back}.</p>
<form method="post" action="${action}">
<input type="hidden" name="seal" value="${seal}">
<button type="submit">Approve access</button>
</form>
<p>You did not ask for this, or changed your mind? Close this page, and nothing happens.</p>`;
  return layout.page({ title: 'Approve access?', body, headers });
}

function reach(offer: ApprovalOffer): Html[] {
  const { send, delete: mayDelete } = offer.permissions;
  const powers = [
    'read all mail',
    ...(send ? ['send mail'] : []),
    mayDelete ? 'label and delete mail' : 'label mail',
    mayDelete ? 'create and delete inboxes' : 'create inboxes',
  ];
  const where = offer.hasAccount
    ? html`<li>${inboxWords(offer)}</li>`
    : html`<li>You have no account here yet: one is made when the agent uses its words.</li>`;
  return [html`<li>It can ${powers.slice(0, -1).join(', ')} and ${powers.at(-1) ?? ''}.</li>`, where];
}

function inboxWords({ inboxes, inboxCount }: ApprovalOffer): string {
  if (inboxCount === 0) return 'There is no inbox in the account yet.';
  const more = inboxCount > inboxes.length ? ` and ${inboxCount - inboxes.length} more` : '';
  return `${inboxCount === 1 ? 'The inbox' : 'The inboxes'}: ${inboxes.join(', ')}${more}.`;
}

/** Shows the words, which are never shown again. */
export function wordsView(
  layout: Layout,
  input: { readonly phrase: string; readonly email: string; readonly expiresAt: number },
): Reply {
  const until = toInstant(input.expiresAt);
  const body = html`
<p>You approved access to the account of <strong>${input.email}</strong>. Hand these words to one agent:</p>
<label for="words">Six words</label>
<p class="hint" id="hint">They are shown only now. Select them to copy.</p>
<textarea id="words" readonly rows="3" spellcheck="false" autocapitalize="off" aria-describedby="hint">${input.phrase}</textarea>
<button type="button" id="copy" class="second" hidden>Copy the words</button>
<p role="status" id="copied"></p>
<h2>Take care of them</h2>
<ul>
<li>Give them to one agent that you trust, where nobody else can read them. Whoever has them gets the access.</li>
<li>They work once, until <time datetime="${until}">${until.slice(0, 16).replace('T', ' ')} UTC</time>.</li>
<li>Nobody from ${layout.service.name} will ever ask you for them.</li>
<li>Lost them? <a href="${layout.path('/approve')}">Approve again</a>: you get others.</li>
</ul>`;
  return layout.page({ title: 'Access approved', body, hasCopyButton: true });
}

type Closed = Exclude<ApprovalState, { status: 'open' }>;

const CLOSED = {
  unknown: {
    status: 404,
    title: 'This link does not work',
    text: 'It may be incomplete, or too old. Open it from the mail once more, or ask for a new one.',
  },
  expired: {
    status: 410,
    title: 'This link has expired',
    text: 'A link works for 12 hours. Nothing was granted with it.',
  },
  used: {
    status: 410,
    title: 'This link has been used',
    text: 'Access was approved with it and the six words were shown, once. If you did not keep them, ask for a new link and approve again. If it was not you, tell whoever runs this service.',
  },
  not_eligible: {
    status: 403,
    title: 'No access for this address',
    text: 'This email address may not approve access here, or no longer. Whoever runs this service can tell you more.',
  },
} as const satisfies Record<Closed['status'], { status: number; title: string; text: string }>;

export function closedView(layout: Layout, state: Closed, headers: PageHeaders = {}): Reply {
  const { status, title, text } = CLOSED[state.status];
  const body = html`<p>${text}</p>
<p><a class="button" href="${layout.path('/approve')}">Begin anew</a></p>`;
  return layout.page({ status, title, body, headers });
}

/** For a form that was open for too long, or that was given to another browser. */
export function staleView(layout: Layout, again: string): Reply {
  const body = html`
<p>It was open for longer than 15 minutes, or your browser did not send back the cookie that belongs to it. Nothing was granted.</p>
<p><a class="button" href="${again}">Open it again</a></p>`;
  return layout.page({ status: 403, title: 'This page is out of date', body });
}
