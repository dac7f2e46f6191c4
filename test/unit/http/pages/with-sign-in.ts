import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { linkPages } from '../../../../src/http/pages/approve.js';
import { CALLBACK_PATH, signInPages } from '../../../../src/http/pages/sign-in.js';
import { OidcSignIn } from '../../../../src/signin/oidc-sign-in.js';
import { type RecordingLog, recordingLog, temporaryFolder } from '../../../support/redis/redis.js';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type OidcProvider,
  startOidcProvider,
} from '../../../support/signup/oidc-provider.js';
import { PUBLIC_URL } from '../../usecases/signup/with-approvals.js';
import {
  type AccessOptions,
  type AccessServer,
  type Browser,
  type Page,
  withAccess,
} from '../with-access.js';

export interface SignInServer extends AccessServer {
  readonly provider: OidcProvider;
  readonly signInLog: RecordingLog;
}

/** The pages of a sign-in with a provider of our own, which is asked over HTTP as any other. */
export async function withSignIn(t: Test, options: AccessOptions = {}): Promise<SignInServer> {
  const redirectUri = `${options.publicUrl ?? PUBLIC_URL}${CALLBACK_PATH}`;
  const provider = await startOidcProvider(t, { redirectUri });
  const secretFile = join(temporaryFolder(t), 'secret');
  writeFileSync(secretFile, `${CLIENT_SECRET}\n`);
  const signInLog = recordingLog();
  const access = await withAccess(t, {
    ...options,
    policy: { policy: 'open', ...options.policy, proof: 'sign_in' },
    pages: deps => {
      const signIn = new OidcSignIn({
        issuer: provider.issuer,
        clientId: CLIENT_ID,
        clientSecretFile: secretFile,
        name: 'Example Login',
        redirectUri,
        maxAgeMs: 15 * 60_000,
        clock: deps.clock,
        log: signInLog,
      });
      return [...signInPages({ ...deps, policy: deps.policy, signIn }), ...linkPages(deps)];
    },
  });
  // ID tokens are dated by the provider, which has no clock but the machine's.
  access.house.now.ms = Date.now();
  return Object.assign(access, { provider, signInLog });
}

/** From our first page to the provider and back: what the callback answers. */
export async function signIn(server: SignInServer, browser: Browser): Promise<Page> {
  const back = await goToProvider(server, browser);
  return browser.open(back, { 'sec-fetch-site': 'cross-site' });
}

/** As far as the provider, which sends the browser back to this path. */
export async function goToProvider(server: SignInServer, browser: Browser): Promise<string> {
  const page = await browser.open('/approve');
  const [, start = ''] = /class="button" href="(\/approve\/oidc)"/.exec(page.html) ?? [];
  const begun = await browser.open(start, { 'sec-fetch-site': 'same-origin' });
  if (begun.status !== 303) throw new Error(`the sign-in did not begin: ${begun.status}`);
  const back = new URL(await server.provider.authorize(String(begun.headers.location)));
  return back.pathname + back.search;
}
