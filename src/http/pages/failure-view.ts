import { ERRORS, type ErrorCode } from '../../contract/errors.js';
import type { Failure } from '../../domain/errors.js';
import type { Reply } from '../server/route.js';
import { html } from './html.js';
import type { Layout } from './layout.js';

const TITLES: Partial<Record<ErrorCode, string>> = {
  origin_not_allowed: 'This form was not sent from our page',
  rate_limited: 'Too many attempts',
  internal_error: 'Something went wrong',
};

/** The page for a failed request: the HTTP status that the API would answer, and an explanation. */
export function failureView(layout: Layout, failure: Failure): Reply {
  const start = `${layout.service.publicUrl}/approve`;
  const words =
    failure.code === 'origin_not_allowed'
      ? html`<p>It came from another site, or you reached this page by another address than its own. Nothing was granted.</p>`
      : html`<p>${failure.message}</p>`;
  return layout.page({
    status: ERRORS[failure.code].status,
    title: TITLES[failure.code] ?? 'This form cannot be read',
    body: html`${words}
<p><a class="button" href="${start}">Begin anew</a></p>`,
    headers: failure.retryAfterS === undefined ? {} : { 'Retry-After': String(failure.retryAfterS) },
  });
}
