import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t from 'tap';
import { writeLetter } from '../../support/letters/letters.js';
import { freePort } from '../../support/redis/own-redis.js';
import { temporaryFolder } from '../../support/redis/redis.js';
import {
  chromiumPath,
  NO_CHROMIUM,
  openProfile,
  picture,
  theBrowser,
} from '../../support/signup/chromium.js';
import { CLIENT_ID, CLIENT_SECRET, startOidcProvider } from '../../support/signup/oidc-provider.js';
import { type SignupBox, startSignupBox } from '../../support/signup/signup-box.js';
import { startTlsProxy } from '../../support/signup/tls-proxy.js';
import { deliver } from '../../support/smtp/deliver.js';

const skip = chromiumPath === null ? NO_CHROMIUM : false;

/** What an agent does with the words: it claims, makes an inbox, and reads the mail that comes. */
async function readsItsFirstMail(
  { box }: SignupBox,
  words: string,
  localPart: string,
): Promise<string | null> {
  const claim = await box.api().post('/v1/claims', { phrase: words });
  if (claim.status !== 201) throw new Error(`POST claims: ${claim.status} ${claim.bytes}`);
  const agent = box.api(claim.json<{ credential: string }>().credential);
  const inbox = (await agent.post('/v1/inboxes', { local_part: localPart })).json<{ address: string }>();
  const letter = writeLetter();
  const id = await deliver(box, inbox.address, letter);
  return (await agent.content(id)).subject === letter.subject ? letter.subject : null;
}

async function wordsOn(page: Page): Promise<string> {
  await page.getByRole('heading', { name: 'Access approved' }).waitFor();
  return page.getByLabel('Six words').inputValue();
}

t.test('from the signup of an agent to its first mail read', { skip }, async t => {
  const signup = await startSignupBox(t);
  const { page, complaints } = await openProfile(t, await theBrowser(t), { colorScheme: 'light' });
  const asked = await signup.box.api().post('/v1/signups', {});
  t.equal(asked.status, 202);

  await page.goto(asked.json<{ approval_url: string }>().approval_url);
  await picture(page, '1-ask');
  await page.getByLabel('Your email address').fill(signup.human.address);
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
  t.equal(page.url(), `${signup.publicUrl}/approve/sent`);
  await picture(page, '2-sent');

  const link = await signup.nextLink();
  t.ok(link.startsWith(`${signup.publicUrl}/approve/link/`));
  await page.goto(link);
  await page.getByText(signup.human.address).waitFor();
  await picture(page, '3-confirm');
  await page.getByRole('button', { name: 'Approve access' }).click();
  const words = await wordsOn(page);
  await picture(page, '4-words');
  t.ok(await readsItsFirstMail(signup, words, 'first'));

  await page.reload();
  await page.getByRole('heading', { name: 'This link has been used' }).waitFor();
  t.equal(await page.getByLabel('Six words').count(), 0, 'reloading shows them no second time');
  await picture(page, '5-used');
  t.same(
    complaints.filter(text => !/410/.test(text)),
    [],
    'the browser has nothing to complain of',
  );

  const { keys } = await signup.box.cliJson<{ keys: { key_id: string; account_id: string }[] }>(
    'key',
    'list',
  );
  const trail = await signup.box.cliJson<{ events: { event: string; key_id: string | null }[] }>(
    'audit',
    'list',
  );
  t.same(trail.events.map(({ event }) => event).slice(0, 5), [
    'claimed',
    'approved',
    'opened',
    'mailed',
    'requested',
  ]);
  t.ok(keys.some(({ key_id }) => key_id === trail.events[0]?.key_id));
});

t.test('the button copies the words; without a clipboard it selects them', { skip }, async t => {
  const signup = await startSignupBox(t);
  const { page, context, complaints } = await openProfile(t, await theBrowser(t));
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: signup.publicUrl });
  await page.goto(`${signup.publicUrl}/approve`);
  await page.getByLabel('Your email address').fill(signup.human.address);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
  await page.goto(await signup.nextLink());
  await page.getByRole('button', { name: 'Approve access' }).click();
  const words = await wordsOn(page);
  await page.getByRole('button', { name: 'Copy the words' }).click();
  await page.getByText('The words are copied.').waitFor();
  t.equal(await page.evaluate('navigator.clipboard.readText()'), words);
  await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error("no"))');
  await page.getByRole('button', { name: 'Copy the words' }).click();
  await page.getByText('The words are selected').waitFor();
  t.equal(await page.evaluate('getSelection().toString()'), words);
  t.same(complaints, []);
});

t.test('behind a proxy with TLS, as it is meant to be run', { skip }, async t => {
  const port = await freePort();
  const publicUrl = `https://localhost:${port}`;
  const signup = await startSignupBox(t, {
    publicUrl,
    env: { POSTERN_HTTP_TRUSTED_PROXIES: '127.0.0.1' },
  });
  await startTlsProxy(t, { port, target: signup.box.httpPort, clientAddress: '203.0.113.5' });
  const { page, context, complaints } = await openProfile(t, await theBrowser(t), {
    ignoreHTTPSErrors: true,
  });
  await page.goto(`${publicUrl}/approve`);
  await page.getByLabel('Your email address').fill(signup.human.address);
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
  await page.goto(await signup.nextLink());
  const cookies = await context.cookies();
  t.same(
    cookies.map(({ name, secure, httpOnly, sameSite }) => ({ name, secure, httpOnly, sameSite })),
    ['form', 'link'].map(kind => ({
      name: `__Host-postern-${kind}`,
      secure: true,
      httpOnly: true,
      sameSite: 'Strict',
    })),
  );
  await page.getByRole('button', { name: 'Approve access' }).click();
  t.ok(await readsItsFirstMail(signup, await wordsOn(page), 'tls'));
  t.same(complaints, []);
  const { events } = await signup.box.cliJson<{ events: { event: string; client: string }[] }>(
    'audit',
    'list',
  );
  t.equal(events.find(({ event }) => event === 'approved')?.client, '203.0.113.5');
});

t.test('with a provider to sign in with, on another site', { skip }, async t => {
  const port = await freePort();
  const redirectUri = `http://localhost:${port}/approve/oidc/callback`;
  const provider = await startOidcProvider(t, { redirectUri });
  const secretFile = join(temporaryFolder(t), 'secret');
  writeFileSync(secretFile, CLIENT_SECRET);
  const signup = await startSignupBox(t, {
    publicUrl: `http://localhost:${port}`,
    env: {
      POSTERN_HTTP_PORT: String(port),
      POSTERN_SIGNUP_OIDC_ISSUER: provider.issuer,
      POSTERN_SIGNUP_OIDC_CLIENT_ID: CLIENT_ID,
      POSTERN_SIGNUP_OIDC_CLIENT_SECRET_FILE: secretFile,
      POSTERN_SIGNUP_OIDC_NAME: 'Example Login',
    },
  });
  const { page, context, complaints } = await openProfile(t, await theBrowser(t));
  await page.goto(`${signup.publicUrl}/approve`);
  await picture(page, '6-sign-in');
  await page.getByRole('link', { name: 'Sign in with Example Login' }).click();
  await page.getByRole('link', { name: 'I am Ann' }).click();
  await page.getByText('ann@humans.example').waitFor();
  t.equal(page.url(), `${signup.publicUrl}/approve/confirm`, 'nothing of the sign-in stays in the address');
  t.same((await context.cookies()).map(({ name }) => name).sort(), ['postern-confirm', 'postern-signed-in']);
  await picture(page, '7-signed-in');
  await page.getByRole('button', { name: 'Approve access' }).click();
  t.ok(await readsItsFirstMail(signup, await wordsOn(page), 'oidc'));
  t.same(complaints, []);
});
