import { readFile } from 'node:fs/promises';
import * as oidc from 'openid-client';
import { isLoopback } from '../domain/addresses.js';
import { reasonOf } from '../lib/async.js';
import type { Clock, Logger, SignIn, SignInOutcome, SignInStart } from '../usecases/ports.js';
import { checkedFetch } from './checked-fetch.js';
import { type FlowSecrets, SignInFlows } from './sign-in-flows.js';

export interface OidcOptions {
  /** An https URL, or http on this machine. */
  readonly issuer: string;
  readonly clientId: string;
  /** Path of the file with the client secret; null for a public client. */
  readonly clientSecretFile: string | null;
  /** The provider's name for humans; null for the host of its issuer. */
  readonly name: string | null;
  /** Where the provider sends the browser back to. */
  readonly redirectUri: string;
  /** A human who authenticated longer ago than this has to do it again. */
  readonly maxAgeMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How long the provider's metadata (OpenID Connect Discovery) is used before it is read again. */
const DISCOVERY_LIFETIME_MS = 60 * 60_000;
const TIMEOUT_S = 10;

/** A sign-in that came back is rejected. The message is for the log. */
class SignInRejected extends Error {}

/**
 * Sign-in by the authorization code flow (OpenID Connect Core section 3.1) with PKCE, state and nonce. `prompt=login`
 * and `max_age` make the provider authenticate the human anew. The ID token must be signed by the provider and say when
 * that was.
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

  /** Logs when the provider cannot be used. Never rejects. */
  async check(): Promise<void> {
    await this.#discovered().catch(error => this.#report(error, 'the sign-in provider cannot be used now'));
  }

  /** Begins a sign-in: the provider's URL for the browser and the key of the flow, or `unavailable`. Never rejects. */
  async begin(): Promise<SignInStart> {
    try {
      const client = await this.#discovered();
      const { key, secrets } = this.#flows.begin();
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
      return { status: 'started', url: url.href, flow: key };
    } catch (error) {
      this.#report(error, 'a sign-in could not begin');
      return { status: 'unavailable' };
    }
  }

  /** Ends a sign-in with the query that the browser came back with, and the key of its flow. Never rejects. */
  async finish(input: { readonly query: string; readonly flow: string | null }): Promise<SignInOutcome> {
    // Without a key from this browser, another one began the flow, or it is over.
    const secrets = input.flow === null ? null : this.#flows.open(input.flow);
    if (secrets === null) return { status: 'refused', reason: 'not_begun_here' };
    try {
      return await this.#exchange(secrets, input.query);
    } catch (error) {
      this.#report(error, 'a sign-in was not taken');
      return { status: 'refused', reason: reasonOfRefusal(error) };
    }
  }

  async #exchange(secrets: FlowSecrets, query: string): Promise<SignInOutcome> {
    const client = await this.#discovered();
    // Built from our own address, whatever host the request named.
    const url = new URL(`${this.#options.redirectUri}?${query}`);
    const tokens = await oidc.authorizationCodeGrant(client, url, {
      expectedState: secrets.state,
      expectedNonce: secrets.nonce,
      pkceCodeVerifier: secrets.codeVerifier,
      maxAge: this.#maxAgeS,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new SignInRejected('the provider gave no ID token');
    const { email, isVerified } = await this.#emailOf(client, tokens.access_token, claims);
    if (email === null) throw new SignInRejected('the provider told no email address');
    if (!isVerified) return { status: 'refused', reason: 'email_not_verified' };
    const nowMs = this.#options.clock();
    const authenticatedAt = Math.min(nowMs, (claims.auth_time ?? 0) * 1000);
    if (nowMs - authenticatedAt > this.#options.maxAgeMs) {
      return { status: 'refused', reason: 'too_long_ago' };
    }
    return { status: 'signed_in', email, authenticatedAt };
  }

  /** From the ID token, or if it has no email, from the userinfo endpoint (OpenID Connect Core section 5.3). */
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

  /** The provider's metadata (OpenID Connect Discovery section 4), kept for an hour; a failure is not kept. */
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
  if (secret === '') throw new SignInRejected(`the secret file ${file} is empty`);
  return secret;
}

/** HTTP Basic if the provider supports it, which is the default (OpenID Connect Core section 9), else by POST. */
function clientAuth(secret: string | null): oidc.ClientAuth {
  if (secret === null) return oidc.None();
  const [basic, post] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const authenticate = methods.includes('client_secret_basic') ? basic : post;
    authenticate(server, client, body, headers);
  };
}

function reasonOfRefusal(error: unknown): 'denied' | 'not_begun_here' | 'not_valid' {
  // The human or the provider denied it (RFC 6749 section 4.1.2.1).
  if (error instanceof oidc.AuthorizationResponseError && error.error === 'access_denied') return 'denied';
  // The code was used before, has expired, or was given to another flow (RFC 6749 section 5.2).
  const isSpent = error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant';
  return isSpent ? 'not_begun_here' : 'not_valid';
}
