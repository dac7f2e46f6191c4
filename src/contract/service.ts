import { z } from 'zod';

export const Alive = z.object({ status: z.literal('ok') }).meta({ examples: [{ status: 'ok' }] });
export const Ready = z.object({ status: z.literal('ready') }).meta({ examples: [{ status: 'ready' }] });
export const NotReady = z
  .object({ status: z.literal('not_ready') })
  .meta({ examples: [{ status: 'not_ready' }] });

export const ContractDocument = z
  .looseObject({ openapi: z.string(), info: z.looseObject({}), paths: z.looseObject({}) })
  .meta({ examples: [{ openapi: '3.1.0', info: { title: 'Postern', version: '1.0.0' }, paths: {} }] });
