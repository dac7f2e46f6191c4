import { readFile } from 'node:fs/promises';
import * as oidc from 'openid-client';
import { isLoopback } from '../domain/addresses.js';
import { reasonOf } from '../lib/async.js';
import type { Clock, Logger, SignIn, SignInOutcome, SignInStart } from '../usecases/ports.js';
import { checkedFetch } from './checked-fetch.js';
import { type FlowSecrets, SignInFlows } from './sign-in-flows.js';

export interface OidcOptions {
  /** https, or http on this machine. */
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client. */
  readonly clientSecretFile: string | null;
  /** What humans call the provider; null: by the host of its issuer. */
  readonly name: string | null;
  /** Where the provider sends the browser back to. */
  readonly redirectUri: string;
  /** Whoever signed in longer ago than that has to do it again. */
  readonly maxAgeMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The provider's own description of itself is read again after so long. */
const DISCOVERY_LIFETIME_MS = 60 * 60_000;
const TIMEOUT_S = 10;

/** Why a sign-in that came back is not taken, in words for the log. */
class NotTaken extends Error {}

/**
 * Sign-in by the authorization code flow (OpenID Connect Core section 3.1) with PKCE, state and nonce. `prompt=login`
 * and `max_age` make the provider ask anew; its ID token must be signed by it and say when that was.
 */
export class OidcSignIn implements SignIn {
  readonly provider: string;
  readonly #options: OidcOptions;
  readonly #flows: SignInFlows;
  #client: Promise<oidc.Configuration> | null = null;
  #discoveredAt = 0;

  constructor(options: OidcOptions) {
    this.#options = options;
    this.#flows = new SignInFlows(options.clock);
    this.provider = options.name ?? new URL(options.issuer).host;
  }

  /** Says in the log when the provider cannot be used. Never rejects. */
  async check(): Promise<void> {
    await this.#discovered().catch(error => this.#report(error, 'the sign-in provider cannot be used now'));
  }

  async begin(): Promise<SignInStart> {
    try {
      const client = await this.#discovered();
      const secrets: FlowSecrets = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        codeVerifier: oidc.randomPKCECodeVerifier(),
      };
      const url = oidc.buildAuthorizationUrl(client, {
        redirect_uri: this.#options.redirectUri,
        scope: 'openid email',
        response_type: 'code',
        prompt: 'login',
        max_age: String(this.#maxAgeS),
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(secrets.codeVerifier),
        code_challenge_method: 'S256',
      });
      return { status: 'started', url: url.href, flow: this.#flows.begin(secrets) };
    } catch (error) {
      this.#report(error, 'a sign-in could not begin');
      return { status: 'unavailable' };
    }
  }

  async finish(input: { readonly query: string; readonly flow: string | null }): Promise<SignInOutcome> {
    // Without the browser's key there is nothing to hold the answer against: somebody else began it.
    const secrets = input.flow === null ? null : this.#flows.take(input.flow);
    if (secrets === null) return { status: 'refused', reason: 'not_begun_here' };
    try {
      return await this.#exchange(secrets, input.query);
    } catch (error) {
      this.#report(error, 'a sign-in was not taken');
      return { status: 'refused', reason: isDenial(error) ? 'denied' : 'not_valid' };
    }
  }

  async #exchange(secrets: FlowSecrets, query: string): Promise<SignInOutcome> {
    const client = await this.#discovered();
    // Built on our own address, whatever the request said of hosts.
    const url = new URL(`${this.#options.redirectUri}?${query}`);
    const tokens = await oidc.authorizationCodeGrant(client, url, {
      expectedState: secrets.state,
      expectedNonce: secrets.nonce,
      pkceCodeVerifier: secrets.codeVerifier,
      maxAge: this.#maxAgeS,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new NotTaken('the provider gave no ID token');
    const { email, isVerified } = await this.#emailOf(client, tokens.access_token, claims);
    if (email === null) throw new NotTaken('the provider told no email address');
    if (!isVerified) return { status: 'refused', reason: 'email_not_verified' };
    const nowMs = this.#options.clock();
    const authenticatedAt = Math.min(nowMs, (claims.auth_time ?? 0) * 1000);
    if (nowMs - authenticatedAt > this.#options.maxAgeMs)
      return { status: 'refused', reason: 'too_long_ago' };
    return { status: 'signed_in', email, authenticatedAt };
  }

  /** From the ID token, or where that has none, from the userinfo endpoint (OpenID Connect Core section 5.3). */
  async #emailOf(
    client: oidc.Configuration,
    accessToken: string,
    claims: oidc.IDToken,
  ): Promise<{ email: string | null; isVerified: boolean }> {
    const hasUserInfo = client.serverMetadata().userinfo_endpoint !== undefined;
    const told =
      claims.email === undefined && hasUserInfo
        ? await oidc.fetchUserInfo(client, accessToken, claims.sub)
        : claims;
    const { email, email_verified: isVerified } = told;
    return { email: typeof email === 'string' ? email : null, isVerified: isVerified === true };
  }

  get #maxAgeS(): number {
    return Math.floor(this.#options.maxAgeMs / 1000);
  }

  /** The provider as it describes itself (OpenID Connect Discovery section 4); asked anew when it failed. */
  #discovered(): Promise<oidc.Configuration> {
    const nowMs = this.#options.clock();
    if (this.#client === null || nowMs - this.#discoveredAt > DISCOVERY_LIFETIME_MS) {
      const client = this.#discover();
      this.#client = client;
      this.#discoveredAt = nowMs;
      client.catch(() => {
        if (this.#client === client) this.#client = null;
      });
    }
    return this.#client;
  }

  async #discover(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecretFile } = this.#options;
    const secret = clientSecretFile === null ? null : await readSecret(clientSecretFile);
    const url = new URL(issuer);
    const isHere = url.protocol === 'http:' && isLoopback(url.hostname);
    return oidc.discovery(url, clientId, {}, clientAuth(secret), {
      [oidc.customFetch]: checkedFetch,
      timeout: TIMEOUT_S,
      execute: [oidc.enableNonRepudiationChecks, ...(isHere ? [oidc.allowInsecureRequests] : [])],
    });
  }

  #report(error: unknown, message: string): void {
    const { issuer, log } = this.#options;
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    log.warn({ issuer, reason: `${reasonOf(error)}${cause}` }, message);
  }
}

async function readSecret(file: string): Promise<string> {
  const secret = (await readFile(file, 'utf8')).trim();
  if (secret === '') throw new NotTaken(`the secret file ${file} is empty`);
  return secret;
}

/** By Basic where the provider takes it, which it does unless it says otherwise (OpenID Connect Core section 9). */
function clientAuth(secret: string | null): oidc.ClientAuth {
  if (secret === null) return oidc.None();
  const [basic, post] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const authenticate = methods.includes('client_secret_basic') ? basic : post;
    authenticate(server, client, body, headers);
  };
}

/** The human pressed Cancel at the provider, or it would not let them in (RFC 6749 section 4.1.2.1). */
function isDenial(error: unknown): boolean {
  return error instanceof oidc.AuthorizationResponseError && error.error === 'access_denied';
}
