import { SIGNUP_OPERATIONS } from '../../contract/signup.js';
import { RATE_LIMITS } from '../../usecases/signup/policy.js';
import { type RedeemClaimDeps, redeemClaim } from '../../usecases/signup/redeem-claim.js';
import { json, type Route, routes } from '../server/route.js';

export interface SignupRouteDeps extends RedeemClaimDeps {
  readonly service: { readonly name: string; readonly publicUrl: string };
}

/** The two calls that an agent makes without a key. */
export function signupRoutes(deps: SignupRouteDeps): Route[] {
  const { name, publicUrl } = deps.service;
  const guards = { createSignup: RATE_LIMITS.signups, createClaim: RATE_LIMITS.claims };
  return routes(
    SIGNUP_OPERATIONS,
    {
      createSignup: ({ client }) => {
        deps.log.info({ client }, 'an agent asked how to get access');
        return json(202, {
          status: 'awaiting_human',
          approval_url: `${publicUrl}/approve`,
          message: `Ask your human to open approval_url and approve access to ${name}. They get six words there; when they give you those, redeem them with POST /v1/claims. Nothing else happens until then: do not poll, and do not ask for sign-in codes.`,
        });
      },
      createClaim: async ({ body, client }) => json(201, await redeemClaim(deps, { ...body, client })),
    },
    guards,
  );
}
