import { SMALL_BODY_BYTES } from '../../contract/limits.js';
import { ClaimInput, ClaimResult, SignupInput, SignupResult } from '../../contract/signup.js';
import { RATE_LIMITS } from '../../usecases/signup/policy.js';
import { type RedeemClaimDeps, redeemClaim } from '../../usecases/signup/redeem-claim.js';
import { json, type Route } from '../server/route.js';

export interface SignupRouteDeps extends RedeemClaimDeps {
  readonly service: { readonly name: string; readonly publicUrl: string };
}

/** Specification, Signup and claims: the two calls that an agent makes without a key. */
export function signupRoutes(deps: SignupRouteDeps): Route[] {
  const { name, publicUrl } = deps.service;
  return [
    {
      operationId: 'createSignup',
      method: 'POST',
      path: '/v1/signups',
      auth: 'none',
      guard: RATE_LIMITS.signups,
      body: { limitBytes: SMALL_BODY_BYTES, schema: SignupInput, invalid: 'invalid_request' },
      tag: 'signup',
      summary: 'Ask how to get access',
      description:
        'Tells where a human approves access. Nothing is kept and no mail is sent: there is nothing to poll for.',
      responses: { 202: { description: 'What to tell the human.', schema: SignupResult } },
      errors: ['invalid_request', 'origin_not_allowed', 'rate_limited', 'internal_error'],
      handle: ({ client }) => {
        deps.log.info({ client }, 'an agent asked how to get access');
        return json(202, {
          status: 'awaiting_human',
          approval_url: `${publicUrl}/approve`,
          message: `Ask your human to open approval_url and approve access to ${name}. They get six words there; when they give you those, redeem them with POST /v1/claims. Nothing else happens until then: do not poll, and do not ask for sign-in codes.`,
        });
      },
    },
    {
      operationId: 'createClaim',
      method: 'POST',
      path: '/v1/claims',
      auth: 'none',
      guard: RATE_LIMITS.claims,
      body: { limitBytes: SMALL_BODY_BYTES, schema: ClaimInput, invalid: 'invalid_request' },
      tag: 'signup',
      summary: 'Redeem a claim phrase for a key',
      description:
        'A phrase works once, and adds a key: keys, inboxes and mail of the account stay as they are. No inbox is made.',
      responses: { 201: { description: 'The key, shown this once.', schema: ClaimResult } },
      errors: ['invalid_request', 'invalid_claim', 'origin_not_allowed', 'rate_limited', 'internal_error'],
      handle: async ({ body, client }) => {
        return json(201, await redeemClaim(deps, { ...(body as ClaimInput), client }));
      },
    },
  ];
}
