import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import t from 'tap';
import { chromiumPath, NO_CHROMIUM, openProfile, theBrowser } from '../../support/signup/chromium.js';
import { startSignupBox } from '../../support/signup/signup-box.js';

const skip = chromiumPath === null ? NO_CHROMIUM : false;

/** Another site, 127.0.0.1 where we are localhost: it serves what it is given. */
async function startEvilSite(t: Test): Promise<{ url: string; pages: Map<string, string>; seen: string[] }> {
  const pages = new Map<string, string>();
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.url} referer=${request.headers.referer ?? ''}`);
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(`<!DOCTYPE html><link rel="icon" href="data:,">${pages.get(request.url ?? '') ?? ''}`);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, pages, seen };
}

t.test('in a browser in which a human is about to approve', { skip }, async t => {
  const signup = await startSignupBox(t);
  const { publicUrl, human } = signup;
  const evil = await startEvilSite(t);
  const { page, context } = await openProfile(t, await theBrowser(t));
  await page.goto(`${publicUrl}/approve`);
  await page.getByLabel('Your email address').fill(human.address);
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
  const link = await signup.nextLink();
  await page.goto(link);
  const seal = await page.locator('input[name=seal]').inputValue();

  const other = await context.newPage();
  const form = (action: string, fields: string) =>
    `<form method="post" action="${action}">${fields}</form><script>document.forms[0].submit()</script>`;
  // Even one that has seen the seal of the very page.
  evil.pages.set('/approve', form(link, `<input name="seal" value="${seal}">`));
  evil.pages.set('/ask', form(`${publicUrl}/approve`, `<input name="email" value="${human.address}">`));
  evil.pages.set(
    '/hidden',
    `<meta name="referrer" content="no-referrer">${form(link, `<input name="seal" value="${seal}">`)}`,
  );
  for (const path of ['/approve', '/ask', '/hidden']) {
    await other.goto(evil.url + path);
    await other.getByRole('heading', { name: 'This form was not sent from our page' }).waitFor();
  }

  evil.pages.set('/frame', `<iframe src="${link}" width="800" height="600"></iframe>`);
  await other.goto(`${evil.url}/frame`);
  const frame = other.frames()[1];
  t.notMatch(await frame?.content(), /Approve access/, 'it is not shown in a frame');

  evil.pages.set('/window', `<script>var w = window.open(${JSON.stringify(link)});</script>`);
  const opened = context.waitForEvent('page');
  await other.goto(`${evil.url}/window`);
  const popup = await opened;
  await popup.getByRole('button', { name: 'Approve access' }).waitFor();
  t.equal(await popup.evaluate('window.opener'), null, 'nobody holds a handle of our window');

  evil.pages.set(
    '/claim',
    `<script>fetch(${JSON.stringify(`${publicUrl}/v1/claims`)}, {
      method: 'POST', mode: 'no-cors', headers: { 'Content-Type': 'text/plain' }, body: '{"phrase":"x"}'
    }).then(() => { document.title = 'sent'; }, () => { document.title = 'sent'; });</script>`,
  );
  await other.goto(`${evil.url}/claim`);
  await other.waitForFunction('document.title === "sent"');

  await popup.close();
  await page.bringToFront();
  await page.goto(link);
  await page.getByRole('button', { name: 'Approve access' }).click();
  await page.getByLabel('Six words').waitFor();
  t.pass('after all of it the human approves');
  const trail = await signup.box.cliJson<{ events: { event: string }[] }>('audit', 'list');
  t.equal(trail.events.filter(({ event }) => event === 'approved').length, 1);
  t.equal(trail.events.filter(({ event }) => event === 'requested').length, 1);
});

t.test('where a link on our pages leads, nobody learns the address of the page', { skip }, async t => {
  const evil = await startEvilSite(t);
  const signup = await startSignupBox(t, { env: { POSTERN_SERVICE_POLICY_URL: `${evil.url}/rules` } });
  const { page } = await openProfile(t, await theBrowser(t));
  await page.goto(`${signup.publicUrl}/approve`);
  await page.getByLabel('Your email address').fill(signup.human.address);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
  await page.goto(await signup.nextLink());
  await page.getByRole('link', { name: 'Rules of use' }).click();
  await page.waitForURL(`${evil.url}/rules`);
  t.same(evil.seen, ['/rules referer=']);
});
