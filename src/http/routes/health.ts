import { Alive, NotReady, Ready } from '../../contract/service.js';
import { json, type Route } from '../server/route.js';

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
      tag: 'service',
      summary: 'Ask whether the service is alive',
      responses: { 200: { description: 'The process answers.', schema: Alive } },
      errors: [],
      handle: () => json(200, { status: 'ok' }),
    },
    {
      operationId: 'getReadiness',
      method: 'GET',
      path: '/readyz',
      auth: 'none',
      tag: 'service',
      summary: 'Ask whether the service can do its work',
      responses: {
        200: { description: 'It can.', schema: Ready },
        503: { description: 'It cannot now; its log says why.', schema: NotReady },
      },
      errors: [],
      handle: async () =>
        (await isReady()) ? json(200, { status: 'ready' }) : json(503, { status: 'not_ready' }),
    },
  ];
}
