import type { BrowserContextOptions, Page } from 'playwright-core';
import t from 'tap';
import { freePort } from '../../support/redis/own-redis.js';
import {
  accessibilityFaults,
  chromiumPath,
  NO_CHROMIUM,
  openProfile,
  overflow,
  picture,
  theBrowser,
} from '../../support/signup/chromium.js';
import { CLIENT_ID, startOidcProvider } from '../../support/signup/oidc-provider.js';
import { type SignupBox, startSignupBox } from '../../support/signup/signup-box.js';

const skip = chromiumPath === null ? NO_CHROMIUM : false;

/** Leads through every page of the mailed link; `look` is called on each. */
async function visitAll(signup: SignupBox, page: Page, look: (name: string) => Promise<void>): Promise<void> {
  const { publicUrl, human } = signup;
  for (const [name, path] of [
    ['landing', '/'],
    ['policy', '/policy'],
    ['ask', '/approve'],
  ] as const) {
    await page.goto(publicUrl + path);
    await look(name);
  }
  await page.getByLabel('Your email address').fill('not an address');
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByRole('alert').waitFor();
  await look('slip');
  await page.getByLabel('Your email address').fill(human.address);
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
  await look('sent');
  const link = await signup.nextLink();
  await page.goto(link);
  await look('confirm');
  await page.getByRole('button', { name: 'Approve access' }).click();
  await page.getByLabel('Six words').waitFor();
  await look('words');
  await page.goto(link);
  await look('used');
  await page.goto(`${publicUrl}/approve/link/unknown`);
  await look('unknown');
}

const KINDS: readonly (readonly [string, BrowserContextOptions])[] = [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['phone', { viewport: { width: 360, height: 640 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 }],
  ['large type', { viewport: { width: 320, height: 480 } }],
];

for (const [kind, options] of KINDS) {
  t.test(
    `no page has a fault that axe-core finds, nor is wider than its window: ${kind}`,
    { skip },
    async t => {
      const signup = await startSignupBox(t, {
        env: { POSTERN_SERVICE_NAME: 'Österreichische Poststelle <&>' },
      });
      const { page } = await openProfile(t, await theBrowser(t), options);
      await visitAll(signup, page, async name => {
        t.same(await accessibilityFaults(page), [], name);
        t.ok((await overflow(page)) <= 0, `${name} has nothing beside it`);
        await picture(page, `${kind.replace(' ', '-')}-${name}`);
      });
    },
  );
}

t.test('with scripts off everything works but the copy button, which is not there', { skip }, async t => {
  const signup = await startSignupBox(t);
  const { page, complaints } = await openProfile(t, await theBrowser(t), { javaScriptEnabled: false });
  const seen: string[] = [];
  await visitAll(signup, page, async name => {
    seen.push(name);
    if (name !== 'words') return;
    const words = page.getByLabel('Six words');
    t.match(await words.inputValue(), /^(\w+ ){5}\w+$/);
    t.notOk(await words.isEditable());
    t.equal(await page.getByRole('button').count(), 0);
  });
  t.equal(seen.length, 9);
  t.same(
    complaints.filter(text => !/40[04]|410/.test(text)),
    [],
  );
});

/** Presses Tab until this is what has the focus; how often it took. */
async function tabTo(page: Page, selector: string): Promise<number> {
  for (let presses = 1; presses <= 20; presses++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return presses;
  }
  throw new Error(`Tab never comes to ${selector}`);
}

const FOCUS_RING = 'getComputedStyle(document.activeElement).outlineStyle';

t.test('the whole way by keyboard, with the focus in sight', { skip }, async t => {
  const signup = await startSignupBox(t);
  const { page } = await openProfile(t, await theBrowser(t));
  await page.goto(`${signup.publicUrl}/approve`);
  await tabTo(page, '#email');
  await page.keyboard.type('oops');
  t.equal(await page.evaluate(FOCUS_RING), 'solid');
  await page.keyboard.press('Enter');

  await page.getByRole('alert').waitFor();
  t.match(await page.title(), /^Error: /);
  t.ok(await page.evaluate('document.activeElement.matches("[role=alert]")'), 'the summary has the focus');
  await tabTo(page, 'a[href="#email"]');
  await page.keyboard.press('Enter');
  t.ok(await page.evaluate('document.activeElement.id === "email"'), 'and leads to the field');
  await page.keyboard.press('Control+A');
  await page.keyboard.type(signup.human.address);
  await tabTo(page, 'button');
  t.equal(await page.evaluate(FOCUS_RING), 'solid');
  await page.keyboard.press('Space');
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor();

  await page.goto(await signup.nextLink());
  await tabTo(page, 'button');
  await page.keyboard.press('Enter');
  await page.getByLabel('Six words').waitFor();
  await tabTo(page, '#words');
  await page.keyboard.press('Control+A');
  t.match(await page.evaluate('getSelection().toString()'), /^(\w+ ){5}\w+$/);
  await tabTo(page, '#copy');
  t.equal(await page.evaluate(FOCUS_RING), 'solid');
});

t.test('the pages of a sign-in are no worse', { skip }, async t => {
  const port = await freePort();
  const provider = await startOidcProvider(t, {
    redirectUri: `http://localhost:${port}/approve/oidc/callback`,
  });
  const signup = await startSignupBox(t, {
    publicUrl: `http://localhost:${port}`,
    env: {
      POSTERN_HTTP_PORT: String(port),
      POSTERN_SIGNUP_OIDC_ISSUER: provider.issuer,
      POSTERN_SIGNUP_OIDC_CLIENT_ID: CLIENT_ID,
    },
  });
  const { page } = await openProfile(t, await theBrowser(t), { viewport: { width: 360, height: 640 } });
  for (const path of ['/approve', '/approve/oidc/callback', '/approve/confirm']) {
    await page.goto(signup.publicUrl + path);
    t.same(await accessibilityFaults(page), [], path);
    t.ok((await overflow(page)) <= 0, path);
  }
});
