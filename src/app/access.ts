import { formatProblem } from '../config/config-problem.js';
import { configWarnings, takesOwnDomains } from '../config/config-warnings.js';
import type { Config } from '../config/load-config.js';
import { FormSeal } from '../domain/secrets.js';
import { approvePages, linkPages } from '../http/pages/approve.js';
import { BrowserForms } from '../http/pages/browser.js';
import { CookieJar } from '../http/pages/cookies.js';
import { failureView } from '../http/pages/failure-view.js';
import { Layout } from '../http/pages/layout.js';
import type { PageSet } from '../http/pages/page-route.js';
import { CALLBACK_PATH, signInPages } from '../http/pages/sign-in.js';
import { sitePages } from '../http/pages/site.js';
import type { SignupRouteDeps } from '../http/routes/signups.js';
import { Visitors } from '../http/server/visitors.js';
import type { RedisSpace } from '../queue/connection.js';
import { MemoryRateLimiter, RedisRateLimiter } from '../queue/rate-limiter.js';
import { OidcSignIn } from '../signin/oidc-sign-in.js';
import type { StoreIdentity } from '../store/engine/meta.js';
import type { Store } from '../store/engine/store.js';
import { createSystemMail, type SubmitFeedbackDeps } from '../usecases/accounts/feedback.js';
import { builtInPostmaster } from '../usecases/inbound/recipients.js';
import type { Clock, Logger, RateLimiter, Relay } from '../usecases/ports.js';
import { PRESS_WINDOW_MS, type SignupPolicy } from '../usecases/signup/policy.js';
import { type ApprovalRequest, requestApproval } from '../usecases/signup/request-approval.js';
import { BackgroundJobs } from '../workers/background.js';

export interface AccessDeps {
  readonly config: Config;
  readonly store: Store;
  readonly identity: StoreIdentity;
  readonly clock: Clock;
  readonly log: Logger;
  readonly redis: RedisSpace;
  readonly relay: Relay;
}

/**
 * How agents get access: the operations without a key, the pages for humans, the mail that both send, and the rate
 * limits on all of it; wired together, started and stopped as one.
 */
export class Access {
  readonly signup: SignupRouteDeps;
  readonly feedback: SubmitFeedbackDeps;
  readonly pages: PageSet;
  readonly visitors: Visitors;
  readonly #limiter: RedisRateLimiter;
  readonly #jobs: BackgroundJobs;
  readonly #signIn: OidcSignIn | null;

  constructor(deps: AccessDeps) {
    const { config, store, identity, clock, log } = deps;
    const { publicUrl, name, policyUrl } = config.service;
    this.#limiter = new RedisRateLimiter({
      redis: deps.redis,
      memory: new MemoryRateLimiter({ clock: () => performance.now() }),
      log,
    });
    this.#jobs = new BackgroundJobs({ name: 'approval mail', concurrency: 4, maxWaiting: 1_000, log });
    const limiter = this.#limiter;
    this.visitors = new Visitors({ publicUrl, trustedProxies: config.http.trustedProxies, limiter, log });
    const service = { name, publicUrl, policyUrl };
    const operator = builtInPostmaster(config.mail);
    const mail = createSystemMail({
      relay: deps.relay,
      clock,
      from: { address: operator, name },
    });
    this.#signIn = createSignIn(config, clock, log);
    const proof = this.#signIn === null ? 'mail' : 'sign_in';
    const policy: SignupPolicy = {
      policy: config.signup.policy,
      domains: config.signup.domains,
      proof,
      mailDomains: config.mail.domains,
      takesOwnDomains: takesOwnDomains(config),
    };
    const common = { store, clock, log, policy };
    const layout = new Layout(service);
    const cookies = new CookieJar(publicUrl);
    const forms = new BrowserForms({ seals: new FormSeal(identity.cursorSecret), cookies, clock });
    const approve = {
      ...common,
      layout,
      forms,
      limiter,
      offerRequest: (request: ApprovalRequest) =>
        this.#jobs.offer(() => requestApproval({ ...common, service, mail, limiter }, request)),
    };
    this.signup = { ...common, service };
    this.feedback = { ...common, mail, operator, serviceName: name, limits: config.limits };
    this.pages = {
      routes: [
        ...sitePages(layout, {
          domains: config.mail.domains,
          limits: config.limits,
          trashDays: config.trash.retentionDays,
          maxMessageBytes: config.smtp.maxMessageBytes,
          increaseRequest: config.service.increaseRequest,
        }),
        ...(this.#signIn === null
          ? approvePages(approve)
          : [...signInPages({ ...approve, cookies, signIn: this.#signIn }), ...linkPages(approve)]),
      ],
      failure: failure => failureView(layout, failure),
    };
    for (const warning of configWarnings(config)) log.warn({ key: warning.where }, formatProblem(warning));
  }

  /** For what else is limited in time. */
  get limiter(): RateLimiter {
    return this.#limiter;
  }

  start(): void {
    this.#limiter.start();
    void this.#signIn?.check();
  }

  /** Running background jobs (approval mail) may finish within `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    await this.#jobs.stop(graceMs);
    this.#limiter.close();
  }
}

function createSignIn({ signup, service }: Config, clock: Clock, log: Logger): OidcSignIn | null {
  const { issuer, clientId, clientSecretFile, name } = signup.oidc;
  if (issuer === null || clientId === null) return null;
  const redirectUri = `${service.publicUrl}${CALLBACK_PATH}`;
  return new OidcSignIn({
    issuer,
    clientId,
    clientSecretFile,
    name,
    redirectUri,
    maxAgeMs: PRESS_WINDOW_MS,
    clock,
    log,
  });
}
