import { ContractDocument } from '../../contract/service.js';
import { type DescribedService, openApiDocument } from '../openapi/openapi-document.js';
import type { Route } from '../server/route.js';

/**
 * These routes, and `GET /openapi.json`, which describes them and itself (specification, Versioning). The
 * document is made here, once.
 */
export function withContract(service: DescribedService, routes: readonly Route[]): Route[] {
  let bytes: Buffer = Buffer.alloc(0);
  const contract: Route = {
    operationId: 'getContract',
    method: 'GET',
    path: '/openapi.json',
    auth: 'none',
    tag: 'service',
    summary: 'Get this document',
    responses: { 200: { description: 'The contract of the API: OpenAPI 3.1.', schema: ContractDocument } },
    errors: [],
    handle: () => ({ kind: 'json-bytes', status: 200, stream: { size: bytes.length, bytes: [bytes] } }),
  };
  const all = [...routes, contract];
  bytes = Buffer.from(JSON.stringify(openApiDocument(all, service)), 'utf8');
  return all;
}
