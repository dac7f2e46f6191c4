import { SERVICE_OPERATIONS } from '../../contract/service.js';
import { type DescribedService, openApiDocument } from '../openapi/openapi-document.js';
import { pageReply } from '../server/list-page.js';
import { json, type Route, routes } from '../server/route.js';

/**
 * The given routes and those of the service: `/healthz` (the process answers), `/readyz` (it can do its work) and
 * `/openapi.json` (describes all routes; made once, when it is first asked for). `/readyz` needs no key, so it gives no
 * details; the log and `postern status` do.
 */
export function withServiceRoutes(
  service: DescribedService,
  isReady: () => Promise<boolean>,
  others: readonly Route[],
): Route[] {
  let document: Buffer | undefined;
  const contract = (): Buffer => Buffer.from(JSON.stringify(openApiDocument(all, service)), 'utf8');
  const all: Route[] = [
    ...routes(SERVICE_OPERATIONS, {
      getHealth: () => json(200, { status: 'ok' }),
      getReadiness: async () =>
        (await isReady()) ? json(200, { status: 'ready' }) : json(503, { status: 'not_ready' }),
      getContract: () => {
        document ??= contract();
        return pageReply(document);
      },
    }),
    ...others,
  ];
  return all;
}
