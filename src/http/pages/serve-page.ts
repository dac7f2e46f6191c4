import { Refusal, refuse } from '../../domain/errors.js';
import type { Logger } from '../../usecases/ports.js';
import { failed, type Reply } from '../server/route.js';
import type { Visit, Visitors } from '../server/visitors.js';
import { readCookie } from './cookies.js';
import type { PageRequest, PageRoute, PageSet } from './page-route.js';
import { readForm } from './read-form.js';

export interface PageContext {
  readonly pages?: PageSet | undefined;
  readonly visitors: Visitors;
  readonly log: Logger;
}

const BROKEN = () =>
  refuse('internal_error', 'Something went wrong on our side. Please try again in a moment.');

/**
 * Checks a request for a page in the order of the API (origin, rate limit, type, size, fields), then calls the page,
 * which checks the seal of its form. Refusals are answered with a page.
 */
export async function servePage(context: PageContext, route: PageRoute, visit: Visit): Promise<Reply> {
  const show = (refusal: Refusal): Reply => context.pages?.failure(refusal.failure) ?? failed(refusal);
  try {
    const { request } = visit;
    const client = context.visitors.addressOf(request);
    if (route.method === 'POST') context.visitors.refuseForeignForm(request);
    if (route.limit !== undefined) await context.visitors.refuseBeyond(route.limit, client);
    const form = route.method === 'POST' ? await readForm(request, route.fields ?? [], visit.onRead) : null;
    return await route.handle({
      method: request.method as PageRequest['method'],
      params: visit.params,
      queryText: visit.queryText,
      field: name => form?.get(name) ?? '',
      cookie: name => readCookie(request, name),
      site: String(request.headers['sec-fetch-site'] ?? '') || null,
      client,
    });
  } catch (error) {
    if (error instanceof Refusal) return show(error);
    // The client has disconnected: no page to show.
    if (visit.request.socket.destroyed) throw error;
    context.log.error({ path: route.path, err: error }, 'a page failed');
    return show(BROKEN());
  }
}
