import type { IncomingHttpHeaders } from 'node:http';
import type { Test } from 'tap';
import { FormSeal } from '../../../src/domain/secrets.js';
import { openApiDocument } from '../../../src/http/openapi/openapi-document.js';
import { approvePages } from '../../../src/http/pages/approve.js';
import { BrowserForms } from '../../../src/http/pages/browser.js';
import { CookieJar } from '../../../src/http/pages/cookies.js';
import { failureView } from '../../../src/http/pages/failure-view.js';
import { Layout } from '../../../src/http/pages/layout.js';
import type { PageRoute } from '../../../src/http/pages/page-route.js';
import { sitePages } from '../../../src/http/pages/site.js';
import { HttpServer } from '../../../src/http/server/http-server.js';
import { Visitors } from '../../../src/http/server/visitors.js';
import { createKey } from '../../../src/usecases/accounts/api-keys.js';
import type { SignupPolicy } from '../../../src/usecases/signup/policy.js';
import { requestApproval } from '../../../src/usecases/signup/request-approval.js';
import { BackgroundJobs } from '../../../src/workers/background.js';
import { Contract } from '../../support/contract/contract.js';
import { authenticate } from '../../support/use-cases.js';
import { type Approvals, PUBLIC_URL, withApprovals } from '../usecases/signup/with-approvals.js';
import { type Answer, type Call, houseRoutes, methodOf, request } from './with-server.js';

export interface AccessServer extends Approvals {
  readonly port: number;
  /** Of the owner's account. */
  readonly credential: string;
  /** A request with these headers and no others. Rejects when the answer breaks the contract. */
  readonly call: (path: string, call?: Call) => Promise<Answer>;
  readonly browser: () => Browser;
  /** Resolves when everything that the pages left for later is done. */
  readonly settled: () => Promise<void>;
}

export interface AccessOptions {
  readonly policy?: Partial<SignupPolicy>;
  readonly serviceName?: string;
  readonly publicUrl?: string;
  readonly policyUrl?: string;
  readonly trustedProxies?: readonly string[];
  /** What follows an answer waits for this. */
  readonly gate?: Promise<void>;
  /** Pages besides, such as those of a sign-in. */
  readonly pages?: (deps: PageDeps) => readonly PageRoute[];
}

export type PageDeps = Parameters<typeof approvePages>[0] & { readonly cookies: CookieJar };

/** The calls without a key and the pages, over real use cases; mail is taken down instead of sent. */
export async function withAccess(t: Test, options: AccessOptions = {}): Promise<AccessServer> {
  const { publicUrl = PUBLIC_URL, serviceName: name = 'Postern' } = options;
  const approvals = await withApprovals(t, options.policy);
  const { house, limiter, log, mail } = approvals;
  const { credential } = await createKey(house, { account: house.account });
  const service = { name, publicUrl, policyUrl: options.policyUrl ?? `${publicUrl}/policy` };
  const layout = new Layout(service);
  const jobs = new BackgroundJobs({ name: 'mail', concurrency: 4, maxWaiting: 100, log });
  const cookies = new CookieJar(publicUrl);
  const waiting: Promise<unknown>[] = [];
  const deps: PageDeps = {
    ...house,
    // The policy may be changed while the server runs.
    get policy() {
      return approvals.policy;
    },
    log,
    limiter,
    layout,
    cookies,
    forms: new BrowserForms({ seals: new FormSeal('c2VjcmV0'), cookies, clock: house.clock }),
    offerRequest: wanted =>
      void waiting.push(
        new Promise<void>(resolve => {
          const work = async () => {
            await options.gate;
            await requestApproval({ ...approvals, service }, wanted).finally(resolve);
          };
          jobs.offer(work);
        }),
      ),
  };
  const routes = houseRoutes(house, {
    signup: { ...deps, service },
    feedback: {
      ...house,
      log,
      mail,
      operator: 'postmaster@example.org',
      serviceName: name,
      limits: { storageMib: 2048 },
    },
  });
  const contract = new Contract(openApiDocument(routes, service));
  const server = new HttpServer({
    host: '127.0.0.1',
    port: 0,
    connections: { maxClients: 1_000, maxClientsPerNetwork: 1_000, isProxy: () => false },
    authenticate: text => authenticate(house, text),
    log,
    visitors: new Visitors({ publicUrl, trustedProxies: options.trustedProxies ?? [], limiter, log }),
    routes,
    pages: {
      routes: [...sitePages(layout, FACTS), ...(options.pages ?? approvePages)(deps)],
      failure: failure => failureView(layout, failure),
    },
  });
  const { port } = await server.start();
  t.teardown(async () => {
    await server.stop(0);
    await jobs.stop(1_000);
  });
  return Object.assign(approvals, {
    port,
    credential,
    call: async (path: string, call: Call = {}) => {
      const answer = await request(port, path, call);
      const isObject = typeof call.body === 'object' && !(call.body instanceof Uint8Array);
      const { status, headers, bytes } = answer;
      const body = isObject ? (call.body as object) : undefined;
      contract.check({ method: methodOf(call), path, body, status, headers, bytes });
      return answer;
    },
    browser: () => new Browser(port, publicUrl),
    settled: async () => void (await Promise.all(waiting)),
  });
}

export const FACTS = {
  domains: ['example.org'],
  limits: { inboxes: 2, sends: 25, storageMib: 2048 },
  trashDays: 7,
  maxMessageBytes: 26_214_400,
  increaseRequest: 'Ask.',
};

export interface Page {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly html: string;
}

/** What a browser does for a human with scripts off: keeps cookies, says where forms come from. */
export class Browser {
  readonly cookies = new Map<string, string>();
  /** Sent with every request; for what a proxy adds. */
  headers: Record<string, string> = {};
  readonly #port: number;
  readonly #origin: string;

  constructor(port: number, publicUrl: string) {
    this.#port = port;
    this.#origin = new URL(publicUrl).origin;
  }

  async open(path: string, headers: Record<string, string> = {}): Promise<Page> {
    return this.#send(path, { headers: { 'sec-fetch-site': 'none', ...headers } });
  }

  /** Fills in the form of a page and sends it. */
  async submit(page: Page, fields: Record<string, string> = {}, headers: Record<string, string> = {}) {
    const [, action = ''] = /<form method="post" action="([^"]*)"/.exec(page.html) ?? [];
    const [, seal = ''] = /name="seal" value="([^"]*)"/.exec(page.html) ?? [];
    if (action === '') throw new Error(`the page has no form:\n${page.html}`);
    return this.post(action, { ...fields, seal }, headers);
  }

  post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Page> {
    return this.#send(path, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: this.#origin,
        'sec-fetch-site': 'same-origin',
        ...headers,
      },
      body: new URLSearchParams(fields).toString(),
    });
  }

  async #send(path: string, call: Call): Promise<Page> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...this.headers, ...(cookie === '' ? {} : { cookie }), ...call.headers };
    const answer = await request(this.#port, path, { ...call, headers });
    for (const line of answer.headers['set-cookie'] ?? []) this.#keep(line);
    return { status: answer.status, headers: answer.headers, html: answer.bytes.toString('utf8') };
  }

  #keep(line: string): void {
    const [pair = ''] = line.split(';');
    const at = pair.indexOf('=');
    if (/Max-Age=0/.test(line)) this.cookies.delete(pair.slice(0, at));
    else this.cookies.set(pair.slice(0, at), pair.slice(at + 1));
  }
}

/** The link that the last mail brought, as a path. */
export function linkIn(access: AccessServer): string {
  const path = /\/approve\/link\/[0-9a-f]{48}/.exec(access.sent.at(-1)?.text ?? '')?.[0];
  if (path === undefined) throw new Error('no mail with a link has come');
  return path;
}

/** Asks for a link by the page, and gives its path. */
export async function askByPage(access: AccessServer, browser: Browser, email: string): Promise<string> {
  const sent = await browser.submit(await browser.open('/approve'), { email });
  if (sent.status !== 303) throw new Error(`asking ended with ${sent.status}`);
  await access.settled();
  return linkIn(access);
}

export function wordsIn(page: Page): string {
  const words = /<textarea id="words"[^>]*>([^<]*)<\/textarea>/.exec(page.html)?.[1];
  if (words === undefined) throw new Error(`the page shows no words:\n${page.html}`);
  return words;
}
