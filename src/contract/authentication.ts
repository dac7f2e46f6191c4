import { z } from 'zod';
import type { Wire } from './common.js';

/** The answers in one word, for lists too. */
export const VERDICTS = ['pass', 'fail', 'none', 'unknown'] as const;

const domain = z.string().nullable();
const dmarcResult = z.enum(['pass', 'fail', 'none', 'temperror', 'permerror']);

export const authenticationExample = {
  verdict: 'pass' as const,
  reason: 'A DKIM signature of example.com verifies, as its DMARC policy asks.',
  local: false,
  from_domain: 'example.com',
  spf: { result: 'softfail' as const, domain: 'lists.example.net', aligned: false },
  dkim: [
    {
      domain: 'example.com',
      selector: 's1',
      algorithm: 'rsa-sha256',
      result: 'pass' as const,
      aligned: true,
    },
  ],
  dmarc: { result: 'pass' as const, policy: 'reject' as const, aligned_by: ['dkim' as const] },
  arc: { result: 'none' as const, sealer: null, trusted: false, dmarc: null },
  iprev: { result: 'pass' as const, name: 'mx.example.net' },
};

/** Who has really written a message; its members are told in `src/domain/authentication.ts`. */
export const MessageAuthentication = z
  .object({
    verdict: z
      .enum(VERDICTS)
      .describe(
        "DMARC's answer about the address that content.from shows. pass: proven by its domain. fail: not proven although the domain publishes a policy, or there is not exactly one From address. none: the domain publishes no policy. unknown: not found out.",
      ),
    reason: z.string().describe('Why, in a sentence for humans.'),
    local: z
      .boolean()
      .describe('From an inbox of this service; it passes by its own right and nothing else was looked at.'),
    from_domain: domain.describe('Of the one From address; null where there is not exactly one.'),
    spf: z.object({
      result: z.enum(['pass', 'fail', 'softfail', 'neutral', 'none', 'temperror', 'permerror']),
      domain,
      aligned: z.boolean().describe('It passes for a domain that is aligned with From.'),
    }),
    dkim: z
      .array(
        z.object({
          domain: z.string(),
          selector: z.string(),
          algorithm: z.string(),
          result: z
            .enum(['pass', 'fail', 'neutral', 'none', 'policy', 'temperror', 'permerror'])
            .describe('policy: it verifies, and does not count (weak key, SHA-1, part of the body).'),
          aligned: z.boolean().describe('Its domain is aligned with From, whatever the result.'),
        }),
      )
      .describe('Signatures in the order of the message, at most 10.'),
    dmarc: z.object({
      result: dmarcResult,
      policy: z.enum(['none', 'quarantine', 'reject']).nullable(),
      aligned_by: z.array(z.enum(['spf', 'dkim'])),
    }),
    arc: z.object({
      result: z.enum(['pass', 'fail', 'none', 'temperror']),
      sealer: domain.describe('Domain of the newest seal.'),
      trusted: z.boolean().describe('The chain passes and the operator trusts its newest sealer.'),
      dmarc: dmarcResult.nullable().describe('What the newest sealer says of DMARC.'),
    }),
    iprev: z.object({
      result: z.enum(['pass', 'fail', 'none', 'temperror']),
      name: z.string().nullable().describe('Name of the client, confirmed forward and reverse.'),
    }),
  })
  .meta({ id: 'MessageAuthentication', examples: [authenticationExample] });
export type MessageAuthentication = Wire<typeof MessageAuthentication>;
