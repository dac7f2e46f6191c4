import { createPublicKey, type JsonWebKey, type KeyObject, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { temporaryFolder } from '../redis/redis.js';
import { readSigned, type SignedRequest, thumbprintOf } from './jws.js';
import { TestAuthority } from './test-authority.js';

/** A problem that the server answers with (RFC 8555 section 6.7). */
export interface AcmeProblem {
  readonly type: string;
  readonly detail: string;
  readonly status: number;
  readonly retryAfterS?: number;
}

export type Resource =
  | 'newAccount'
  | 'newOrder'
  | 'authz'
  | 'challenge'
  | 'order'
  | 'finalize'
  | 'certificate';

interface Account {
  readonly key: KeyObject;
  contact: readonly string[];
}

interface Authz {
  readonly host: string;
  readonly token: string;
  status: 'pending' | 'valid' | 'invalid';
  error: { readonly type: string; readonly detail: string } | null;
}

interface Order {
  readonly account: string;
  readonly names: readonly string[];
  readonly authzs: readonly number[];
  status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';
  chain: string | null;
}

export interface AcmeServerOptions {
  /** The port at which it looks for proofs on this machine, whatever the name. */
  readonly proofPort: number;
  /** Lifetime of what it issues. */
  readonly days?: number;
}

/**
 * An authority that speaks ACME (RFC 8555) as a whole: nonces, accounts, orders, proofs that are really fetched, and
 * certificates that OpenSSL signs. Every request has to be signed.
 */
export class AcmeServer {
  readonly authority: TestAuthority;
  readonly #server: Server;
  readonly #options: AcmeServerOptions;
  readonly #nonces = new Set<string>();
  readonly accounts = new Map<string, Account>();
  readonly orders: Order[] = [];
  readonly #authzs: Authz[] = [];
  /** Signed requests by resource. */
  readonly asked: Resource[] = [];
  /** Certificates that were issued. */
  issued = 0;
  /** Called before a signed request is worked on; what it returns is the answer. It may keep the request waiting. */
  intervene: (
    resource: Resource,
    request: SignedRequest,
  ) => Promise<AcmeProblem | null> | AcmeProblem | null = () => null;
  /** So many nonces are called stale from now on. */
  staleNonces = 0;

  private constructor(authority: TestAuthority, options: AcmeServerOptions) {
    this.authority = authority;
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(error => {
        this.#problem(response, { type: 'malformed', detail: String(error), status: 400 });
      });
    });
  }

  static async start(t: Test, options: AcmeServerOptions): Promise<AcmeServer> {
    const server = new AcmeServer(await TestAuthority.create(temporaryFolder(t)), options);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    t.teardown(() => server.stop());
    return server;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    if (this.#server.listening) await new Promise(resolve => this.#server.close(resolve));
  }

  get #base(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get directoryUrl(): string {
    return `${this.#base}/directory`;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    response.setHeader('Replay-Nonce', this.#newNonce());
    if (path === '/directory') {
      const url = (name: string): string => `${this.#base}/${name}`;
      const meta = { termsOfService: url('terms') };
      this.#json(response, 200, {
        newNonce: url('nonce'),
        newAccount: url('newAccount'),
        newOrder: url('newOrder'),
        meta,
      });
      return;
    }
    if (path === '/nonce') {
      response.writeHead(200).end();
      return;
    }
    const body = await readAll(request);
    const signed = readSigned(body, kid => this.accounts.get(kid)?.key);
    if (signed.url !== `${this.#base}${path}`) throw new Error('the url in the header is another one');
    const isFresh = this.#nonces.delete(signed.nonce);
    if (!isFresh || this.staleNonces > 0) {
      this.staleNonces = Math.max(0, this.staleNonces - 1);
      this.#problem(response, { type: 'badNonce', detail: 'that nonce is not known', status: 400 });
      return;
    }
    const [, resource = '', id = ''] = path.split('/');
    this.asked.push(resource as Resource);
    const problem = await this.intervene(resource as Resource, signed);
    if (problem !== null) {
      this.#problem(response, problem);
      return;
    }
    await this.#act(response, resource, Number(id), signed);
  }

  async #act(response: ServerResponse, resource: string, id: number, signed: SignedRequest): Promise<void> {
    switch (resource) {
      case 'newAccount':
        return this.#openAccount(response, signed);
      case 'account': {
        const account = this.accounts.get(signed.kid ?? '');
        if (account !== undefined) account.contact = (signed.payload?.contact as string[]) ?? account.contact;
        return this.#json(response, 200, { status: 'valid', contact: account?.contact });
      }
      case 'newOrder':
        return this.#openOrder(response, signed);
      case 'authz':
        return this.#json(response, 200, this.#authzView(id));
      case 'challenge':
        return this.#prove(response, id);
      case 'finalize':
        return this.#finalize(response, id, signed);
      case 'order':
        return this.#json(response, 200, this.#orderView(id));
      case 'certificate': {
        response.writeHead(200, { 'Content-Type': 'application/pem-certificate-chain' });
        response.end(this.orders[id]?.chain ?? '');
        return;
      }
      default:
        throw new Error(`there is no ${resource}`);
    }
  }

  #openAccount(response: ServerResponse, { jwk, payload }: SignedRequest): void {
    if (payload?.termsOfServiceAgreed !== true) {
      this.#problem(response, { type: 'userActionRequired', detail: 'agree to the terms', status: 403 });
      return;
    }
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    const kid = `${this.#base}/account/${thumbprintOf(key)}`;
    const known = this.accounts.get(kid);
    const account = known ?? { key, contact: (payload.contact as string[] | undefined) ?? [] };
    this.accounts.set(kid, account);
    response.setHeader('Location', kid);
    this.#json(response, known === undefined ? 201 : 200, { status: 'valid', contact: account.contact });
  }

  #openOrder(response: ServerResponse, { kid, payload }: SignedRequest): void {
    const names = ((payload?.identifiers ?? []) as { value: string }[]).map(({ value }) => value);
    const authzs = names.map(host => {
      const token = randomBytes(24).toString('base64url');
      return this.#authzs.push({ host, token, status: 'pending', error: null }) - 1;
    });
    const id = this.orders.push({ account: kid ?? '', names, authzs, status: 'pending', chain: null }) - 1;
    response.setHeader('Location', `${this.#base}/order/${id}`);
    this.#json(response, 201, this.#orderView(id));
  }

  async #prove(response: ServerResponse, id: number): Promise<void> {
    const authz = this.#authzs[id];
    if (authz === undefined) throw new Error('there is no such challenge');
    const order = this.orders.find(({ authzs }) => authzs.includes(id));
    const account = this.accounts.get(order?.account ?? '');
    const expected = account === undefined ? '' : `${authz.token}.${thumbprintOf(account.key)}`;
    const path = `/.well-known/acme-challenge/${authz.token}`;
    const found = await fetchProof(this.#options.proofPort, authz.host, path);
    if (found.kind === 'answer' && found.text === expected) {
      authz.status = 'valid';
    } else {
      const isThere = found.kind === 'answer';
      authz.status = 'invalid';
      authz.error = {
        type: `urn:ietf:params:acme:error:${isThere ? 'unauthorized' : 'connection'}`,
        detail: isThere ? `${authz.host} answers ${found.status}` : `${authz.host} is not reached`,
      };
    }
    this.#settle(order);
    this.#json(response, 200, this.#challengeView(id));
  }

  #settle(order: Order | undefined): void {
    if (order?.status !== 'pending') return;
    const states = order.authzs.map(id => this.#authzs[id]?.status);
    if (states.includes('invalid')) order.status = 'invalid';
    else if (states.every(status => status === 'valid')) order.status = 'ready';
  }

  async #finalize(response: ServerResponse, id: number, { payload }: SignedRequest): Promise<void> {
    const order = this.orders[id];
    if (order?.status !== 'ready') throw new Error('the order is not ready');
    const csr = Buffer.from(String(payload?.csr), 'base64url');
    const names = await this.authority.namesIn(csr);
    if ([...names].sort().join() !== [...order.names].sort().join())
      throw new Error(`the request is for ${names}`);
    order.status = 'processing';
    this.#json(response, 200, this.#orderView(id));
    order.chain = await this.authority.issue(csr, this.#options.days ?? 90);
    order.status = 'valid';
    this.issued++;
  }

  #orderView(id: number): object {
    const order = this.orders[id];
    if (order === undefined) throw new Error('there is no such order');
    return {
      status: order.status,
      identifiers: order.names.map(value => ({ type: 'dns', value })),
      authorizations: order.authzs.map(authz => `${this.#base}/authz/${authz}`),
      finalize: `${this.#base}/finalize/${id}`,
      ...(order.chain === null ? {} : { certificate: `${this.#base}/certificate/${id}` }),
    };
  }

  #authzView(id: number): object {
    const authz = this.#authzs[id];
    if (authz === undefined) throw new Error('there is no such authorization');
    const dns = { type: 'dns-01', url: `${this.#base}/nowhere`, token: authz.token, status: 'pending' };
    return {
      status: authz.status,
      identifier: { type: 'dns', value: authz.host },
      challenges: [dns, this.#challengeView(id)],
    };
  }

  #challengeView(id: number): object {
    const { status, token, error } = this.#authzs[id] as Authz;
    const url = `${this.#base}/challenge/${id}`;
    return { type: 'http-01', url, token, status, ...(error === null ? {} : { error }) };
  }

  #newNonce(): string {
    const nonce = randomBytes(12).toString('base64url');
    this.#nonces.add(nonce);
    return nonce;
  }

  #json(response: ServerResponse, status: number, body: object): void {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(body));
  }

  #problem(response: ServerResponse, { type, detail, status, retryAfterS }: AcmeProblem): void {
    if (retryAfterS !== undefined) response.setHeader('Retry-After', String(retryAfterS));
    response.writeHead(status, { 'Content-Type': 'application/problem+json' });
    response.end(JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail }));
  }
}

type Found =
  | { readonly kind: 'answer'; readonly status: number; readonly text: string }
  | { readonly kind: 'none' };

function fetchProof(port: number, host: string, path: string): Promise<Found> {
  return new Promise(resolve => {
    const request = get(
      { host: '127.0.0.1', port, path, headers: { Host: host }, agent: false },
      response => {
        readAll(response).then(
          text => resolve({ kind: 'answer', status: response.statusCode ?? 0, text }),
          () => resolve({ kind: 'none' }),
        );
      },
    );
    request.setTimeout(5_000, () => request.destroy(new Error('no answer in time')));
    request.on('error', () => resolve({ kind: 'none' }));
  });
}

async function readAll(stream: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
