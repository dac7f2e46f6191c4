import type { Test } from 'tap';
import type { ClaimResult } from '../../../../src/contract/signup.js';
import { MemoryRateLimiter } from '../../../../src/queue/rate-limiter.js';
import { scanAudit } from '../../../../src/store/records/approvals.js';
import type { Logger, RateLimiter, SystemMail } from '../../../../src/usecases/ports.js';
import { type ApproveOutcome, approve } from '../../../../src/usecases/signup/approve.js';
import type { SignupPolicy } from '../../../../src/usecases/signup/policy.js';
import type { RedeemClaimInput } from '../../../../src/usecases/signup/redeem-claim.js';
import { requestApproval } from '../../../../src/usecases/signup/request-approval.js';
import { must, redeemClaim } from '../../../support/use-cases.js';
import { DOMAINS, type House, silent, withHouse } from '../with-house.js';

export const PUBLIC_URL = 'https://mail.example.org';
export const CLIENT = '192.0.2.7';
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

export interface SentMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** A house with everything that approvals need; mail is taken down instead of sent. */
export interface Approvals {
  readonly house: House;
  readonly store: House['store'];
  readonly clock: House['clock'];
  /** May be changed, as an operator changes the configuration. */
  policy: SignupPolicy;
  readonly service: { readonly name: string; readonly publicUrl: string };
  readonly sent: SentMail[];
  /** Rejects with this, when it is set. */
  mailFailure: Error | null;
  readonly mail: SystemMail;
  readonly limiter: RateLimiter;
  readonly log: Logger;
  /** Asks for a link and takes its token out of the mail; null when none was sent. */
  readonly askForLink: (email: string) => Promise<string | null>;
  /** Presses Approve on a page opened now. */
  readonly press: (token: string) => Promise<ApproveOutcome>;
  /** The whole way to a phrase. */
  readonly phraseFor: (email: string) => Promise<string>;
  readonly redeem: (phrase: string, answers?: Partial<RedeemClaimInput>) => ReturnType<typeof redeemClaim>;
  /** Kinds of the trail, oldest first. */
  readonly trail: () => string[];
}

export async function withApprovals(t: Test, policy: Partial<SignupPolicy> = {}): Promise<Approvals> {
  const house = await withHouse(t);
  const approvals: Approvals = {
    house,
    store: house.store,
    clock: house.clock,
    policy: {
      policy: 'closed',
      domains: [],
      proof: 'mail',
      mailDomains: DOMAINS,
      takesOwnDomains: false,
      ...policy,
    },
    service: { name: 'Postern', publicUrl: PUBLIC_URL },
    sent: [],
    mailFailure: null,
    mail: {
      send: async mail => {
        if (approvals.mailFailure !== null) throw approvals.mailFailure;
        approvals.sent.push(mail);
      },
    },
    limiter: new MemoryRateLimiter({ clock: house.clock }),
    log: silent,
    askForLink: async email => {
      const before = approvals.sent.length;
      await requestApproval(approvals, { email, client: CLIENT });
      const mail = approvals.sent[before];
      return mail === undefined ? null : tokenIn(mail.text);
    },
    press: token => approve(approvals, { token, openedAt: house.now.ms, client: CLIENT }),
    phraseFor: async email => {
      const token = await approvals.askForLink(email);
      if (token === null) throw new Error(`no link for ${email}`);
      const outcome = await approvals.press(token);
      if (outcome.status !== 'approved') throw new Error(outcome.status);
      return outcome.phrase;
    },
    redeem: (phrase, answers = {}) =>
      redeemClaim(approvals, {
        phrase,
        discovery_source: undefined,
        intended_use: undefined,
        client: CLIENT,
        ...answers,
      }),
    trail: () =>
      house.store
        .read(reader => scanAudit(reader, null, 1000))
        .reverse()
        .map(event => event.kind),
  };
  return approvals;
}

export function tokenIn(text: string): string {
  const token = /\/approve\/link\/([0-9a-f]{48})\n/.exec(text)?.[1];
  if (token === undefined) throw new Error('the mail has no link');
  return token;
}

export async function claimOf(redeemed: ReturnType<typeof redeemClaim>): Promise<ClaimResult> {
  return must(await redeemed);
}
