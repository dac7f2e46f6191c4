import { json, type Route } from '../route.js';

/**
 * `/healthz`: the process answers. `/readyz`: it can do its work. Without authentication and so without
 * detail; the log and `postern status` say more.
 */
export function healthRoutes(isReady: () => Promise<boolean>): Route[] {
  return [
    {
      operationId: 'getHealth',
      method: 'GET',
      path: '/healthz',
      auth: 'none',
      successes: [200],
      errors: [],
      handle: () => json(200, { status: 'ok' }),
    },
    {
      operationId: 'getReadiness',
      method: 'GET',
      path: '/readyz',
      auth: 'none',
      successes: [200, 503],
      errors: [],
      handle: async () =>
        (await isReady()) ? json(200, { status: 'ready' }) : json(503, { status: 'not_ready' }),
    },
  ];
}
