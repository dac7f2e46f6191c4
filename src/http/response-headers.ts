import { z } from 'zod';

interface HeaderSpec {
  readonly description: string;
  readonly schema: z.ZodType;
  /** Absent means always there. */
  readonly isOptional?: true;
}

/** Every header that an answer of the API documents. */
export const RESPONSE_HEADERS = {
  'X-Request-ID': {
    description: 'Name it when you ask for support. It is no idempotency key.',
    schema: z.string(),
  },
  Location: {
    description: 'Path of the resource.',
    schema: z.string().meta({ format: 'uri-reference' }),
  },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: z.literal('Bearer') },
  'Retry-After': {
    description: 'Seconds after which a repeat may succeed; absent when waiting cannot help.',
    schema: z.string().meta({ pattern: '^[0-9]+$' }),
    isOptional: true,
  },
  'Content-Disposition': {
    description: 'attachment, with a file name that is safe.',
    schema: z.string().meta({ pattern: '^attachment' }),
  },
  'Content-Length': { description: 'Bytes.', schema: z.number().meta({ type: 'integer', minimum: 0 }) },
  'Cache-Control': { description: 'Not to be kept.', schema: z.string().meta({ pattern: 'no-store' }) },
  'X-Content-Type-Options': { description: 'Not to be guessed at.', schema: z.literal('nosniff') },
  'Content-Security-Policy': {
    description: 'Not to be run when it is shown.',
    schema: z.string().meta({ pattern: "sandbox.*default-src 'none'" }),
  },
} as const satisfies Readonly<Record<string, HeaderSpec>>;

export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** On every answer. */
export const COMMON_HEADERS: readonly ResponseHeader[] = ['X-Request-ID'];

/** On files from strangers (specification, Downloads). */
export const DOWNLOAD_HEADERS: readonly ResponseHeader[] = [
  'Content-Disposition',
  'Content-Length',
  'Cache-Control',
  'X-Content-Type-Options',
  'Content-Security-Policy',
];
