import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  timingSafeEqual,
} from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

type Claims = Record<string, unknown>;

/** What the provider says and does; a test changes it as it goes. */
export interface ProviderBehaviour {
  email: unknown;
  emailVerified: unknown;
  /** Seconds since its owner signed in; null: the claim is missing. */
  signedInAgoS: number | null;
  /** Claims of the ID token besides, or in place of the usual ones; undefined takes one away. */
  claims: Claims;
  /** The email stands in the answer of userinfo only. */
  emailInUserInfo: boolean;
  /** Signs with a key that it does not publish. */
  signsWithOtherKey: boolean;
  /** Ends every authorization with this error. */
  denies: string | null;
  methods: readonly string[];
  isDown: boolean;
}

export interface OidcProvider {
  readonly issuer: string;
  readonly behaviour: ProviderBehaviour;
  /** Parameters of the authorization requests so far. */
  readonly authorizations: URLSearchParams[];
  /** How clients of token requests authenticated. */
  readonly authentications: string[];
  /** Signs in at the URL that the client built, without a page: where the browser is sent back to. */
  readonly authorize: (url: string) => Promise<string>;
}

export const CLIENT_ID = 'postern';
export const CLIENT_SECRET = 'a secret / with: odd & characters';

interface Grant {
  readonly redirectUri: string;
  readonly challenge: string;
  readonly nonce: string | null;
}

const newKeys = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEYS = newKeys();
const OTHER_KEYS = newKeys();

/**
 * A small OpenID Connect provider on this machine: discovery, authorization code with PKCE (a page with a button),
 * token, keys and userinfo, as strict with its clients as the standards are.
 */
export async function startOidcProvider(
  t: Test,
  client: { readonly redirectUri: string },
): Promise<OidcProvider> {
  const provider = new Provider(client.redirectUri);
  await provider.start();
  t.teardown(() => provider.stop());
  return provider;
}

class Provider implements OidcProvider {
  issuer = '';
  readonly behaviour: ProviderBehaviour = {
    email: 'ann@humans.example',
    emailVerified: true,
    signedInAgoS: 0,
    claims: {},
    emailInUserInfo: false,
    signsWithOtherKey: false,
    denies: null,
    methods: ['client_secret_basic', 'client_secret_post'],
    isDown: false,
  };
  readonly authorizations: URLSearchParams[] = [];
  readonly authentications: string[] = [];
  readonly #redirectUri: string;
  readonly #grants = new Map<string, Grant>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  constructor(redirectUri: string) {
    this.#redirectUri = redirectUri;
  }

  async start(): Promise<void> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve));
    this.issuer = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): Promise<void> {
    return new Promise(resolve => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  authorize = async (url: string): Promise<string> => this.#allow(new URL(url));

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.behaviour.isDown) return void request.socket.destroy();
    const url = new URL(request.url ?? '/', this.issuer);
    try {
      switch (`${request.method} ${url.pathname}`) {
        case 'GET /.well-known/openid-configuration':
          return sendJson(response, 200, this.#metadata());
        case 'GET /authorize':
          return this.#showButton(response, url);
        case 'GET /allow':
          return void response.writeHead(303, { location: this.#allow(url) }).end();
        case 'GET /keys':
          return sendJson(response, 200, {
            keys: [{ ...KEYS.publicKey.export({ format: 'jwk' }), alg: 'RS256' }],
          });
        case 'POST /token':
          return await this.#token(request, response);
        case 'GET /userinfo':
          return sendJson(response, 200, { sub: 'human-1', ...this.#emailClaims() });
      }
      sendJson(response, 404, { error: 'not_found' });
    } catch (error) {
      sendJson(response, 400, { error: 'invalid_request', error_description: String(error) });
    }
  }

  #metadata(): object {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      jwks_uri: `${this.issuer}/keys`,
      userinfo_endpoint: `${this.issuer}/userinfo`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      token_endpoint_auth_methods_supported: this.behaviour.methods,
      code_challenge_methods_supported: ['S256'],
    };
  }

  /** Where a human would give a password. */
  #showButton(response: ServerResponse, url: URL): void {
    const target = `/allow?${url.searchParams}`.replaceAll('&', '&amp;');
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(
      `<!DOCTYPE html><html lang="en"><title>Provider</title><link rel="icon" href="data:,"><h1>Who are you?</h1><a href="${target}">I am Ann</a>`,
    );
  }

  #allow(url: URL): string {
    const query = url.searchParams;
    this.authorizations.push(query);
    const redirectUri = query.get('redirect_uri');
    if (query.get('client_id') !== CLIENT_ID) throw new Error('an unknown client');
    if (redirectUri !== this.#redirectUri) throw new Error(`an unknown redirect URI: ${redirectUri}`);
    if (query.get('response_type') !== 'code') throw new Error('not the code flow');
    if (query.get('code_challenge_method') !== 'S256') throw new Error('no PKCE');
    const back = new URL(redirectUri);
    back.searchParams.set('state', query.get('state') ?? '');
    if (this.behaviour.denies !== null) {
      back.searchParams.set('error', this.behaviour.denies);
      return back.href;
    }
    const code = randomBytes(16).toString('hex');
    const challenge = query.get('code_challenge') ?? '';
    this.#grants.set(code, { redirectUri, challenge, nonce: query.get('nonce') });
    back.searchParams.set('code', code);
    return back.href;
  }

  async #token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await readText(request));
    this.#authenticate(request, form);
    const code = form.get('code') ?? '';
    const grant = this.#grants.get(code);
    this.#grants.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (
      grant === undefined ||
      grant.redirectUri !== form.get('redirect_uri') ||
      grant.challenge !== challenge
    ) {
      return sendJson(response, 400, { error: 'invalid_grant' });
    }
    sendJson(response, 200, {
      access_token: randomBytes(16).toString('hex'),
      token_type: 'Bearer',
      expires_in: 60,
      id_token: this.#idToken(grant),
    });
  }

  #authenticate(request: IncomingMessage, form: URLSearchParams): void {
    const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const [id, secret] =
      basic === undefined
        ? [form.get('client_id'), form.get('client_secret')]
        : Buffer.from(basic, 'base64')
            .toString()
            .split(':')
            .map(part => decodeURIComponent(part.replaceAll('+', ' ')));
    this.authentications.push(basic === undefined ? 'post' : 'basic');
    const hash = (text: string) => createHash('sha256').update(text).digest();
    if (id !== CLIENT_ID || !timingSafeEqual(hash(secret ?? ''), hash(CLIENT_SECRET))) {
      throw new Error('a client that cannot say who it is');
    }
  }

  #emailClaims(): Claims {
    return { email: this.behaviour.email, email_verified: this.behaviour.emailVerified };
  }

  #idToken(grant: Grant): string {
    const { signedInAgoS, claims, emailInUserInfo, signsWithOtherKey } = this.behaviour;
    const nowS = Math.floor(Date.now() / 1000);
    const payload = {
      iss: this.issuer,
      sub: 'human-1',
      aud: CLIENT_ID,
      iat: nowS,
      exp: nowS + 60,
      nonce: grant.nonce,
      ...(signedInAgoS === null ? {} : { auth_time: nowS - signedInAgoS }),
      ...(emailInUserInfo ? {} : this.#emailClaims()),
      ...claims,
    };
    return signedToken(payload, (signsWithOtherKey ? OTHER_KEYS : KEYS).privateKey);
  }
}

/** A JSON Web Token with RS256 (RFC 7515, RFC 7518 section 3.3). */
function signedToken(payload: object, key: KeyObject): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(payload)}`;
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
