import { z } from 'zod';
import { operations } from './operation.js';

export const Alive = z.object({ status: z.literal('ok') }).meta({ examples: [{ status: 'ok' }] });
export const Ready = z.object({ status: z.literal('ready') }).meta({ examples: [{ status: 'ready' }] });
export const NotReady = z
  .object({ status: z.literal('not_ready') })
  .meta({ examples: [{ status: 'not_ready' }] });

export const ContractDocument = z
  .looseObject({ openapi: z.string(), info: z.looseObject({}), paths: z.looseObject({}) })
  .meta({ examples: [{ openapi: '3.1.0', info: { title: 'Postern', version: '1.0.0' }, paths: {} }] });

/** None of them has an unexpected failure to report (`uncertain: null`). */
export const SERVICE_OPERATIONS = operations({
  getHealth: {
    isExtension: true,
    method: 'GET',
    path: '/healthz',
    auth: 'none',
    tag: 'service',
    summary: 'Ask whether the service is alive',
    responses: { 200: { description: 'The process answers.', schema: Alive } },
    uncertain: null,
  },
  getReadiness: {
    isExtension: true,
    method: 'GET',
    path: '/readyz',
    auth: 'none',
    tag: 'service',
    summary: 'Ask whether the service can do its work',
    responses: {
      200: { description: 'It can.', schema: Ready },
      503: { description: 'It cannot now; its log says why.', schema: NotReady },
    },
    uncertain: null,
  },
  getContract: {
    method: 'GET',
    path: '/openapi.json',
    auth: 'none',
    tag: 'service',
    summary: 'Get this document',
    responses: { 200: { description: 'The contract of the API: OpenAPI 3.1.', schema: ContractDocument } },
    uncertain: null,
  },
});
