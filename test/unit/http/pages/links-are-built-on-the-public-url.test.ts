import t from 'tap';
import { askByPage, withAccess, wordsIn } from '../with-access.js';

const OWNER = 'owner@elsewhere.example';

const FORGED = {
  host: 'evil.example',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'http',
  'x-forwarded-port': '81',
  forwarded: 'host=evil.example;proto=http',
  'x-original-url': '/evil',
  'x-forwarded-for': '203.0.113.9',
};

t.test('whatever a request says of hosts', async t => {
  for (const trustedProxies of [[], ['127.0.0.1']]) {
    const access = await withAccess(t, { trustedProxies });
    const browser = access.browser();
    browser.headers = FORGED;
    const pages = [await browser.open('/'), await browser.open('/policy'), await browser.open('/approve')];
    const path = await askByPage(access, browser, OWNER);
    const confirm = await browser.open(path);
    pages.push(confirm, await browser.submit(confirm));
    for (const page of pages) t.notMatch(JSON.stringify([page.headers, page.html]), /evil/);
    t.match(access.sent[0]?.text, `\nhttps://mail.example.org${path}\n`);
    t.notMatch(access.sent[0]?.text, /evil/);
    const signup = await access.call('/v1/signups', { body: {}, headers: FORGED });
    t.equal(signup.json.approval_url, 'https://mail.example.org/approve');
    t.ok(
      pages[2]?.headers['set-cookie']?.[0]?.endsWith('; Secure'),
      'nor does it take the guards off a cookie',
    );
    const foreign = await access.call('/v1/claims', {
      body: { phrase: 'x' },
      headers: { ...FORGED, origin: 'https://evil.example' },
    });
    t.equal(foreign.status, 403, 'nor is a forged host an origin of ours');
  }
});

t.test('a service below a path of its host has its pages there', async t => {
  const access = await withAccess(t, { publicUrl: 'https://example.org/postern' });
  // The proxy takes the path off: the server sees what is behind it.
  const browser = access.browser();
  const form = await browser.open('/approve');
  t.match(form.html, 'action="/postern/approve"');
  t.match(form.html, 'href="/postern/"');
  const [, seal = ''] = /name="seal" value="([^"]*)"/.exec(form.html)!;
  const sent = await browser.post('/approve', { email: OWNER, seal });
  t.equal(sent.headers.location, '/postern/approve/sent');
  await access.settled();
  const [, link = ''] = /\nhttps:\/\/example\.org\/postern(\/approve\/link\/\w+)\n/.exec(
    access.sent[0]!.text,
  )!;
  const confirm = await browser.open(link);
  t.match(confirm.html, `action="/postern${link}"`);
  const [, approval = ''] = /name="seal" value="([^"]*)"/.exec(confirm.html)!;
  t.ok(wordsIn(await browser.post(link, { seal: approval })));
});

t.test('rules of use that stand elsewhere are led to', async t => {
  const access = await withAccess(t, { policyUrl: 'https://example.com/rules' });
  const browser = access.browser();
  t.match(await browser.open('/policy'), { status: 303, headers: { location: 'https://example.com/rules' } });
  t.match((await browser.open('/')).html, 'href="https://example.com/rules"');
});

t.test('the front door and the rules say what the configuration says', async t => {
  const access = await withAccess(t);
  const browser = access.browser();
  const landing = (await browser.open('/')).html;
  for (const call of ['/v1/signups', '/v1/claims', '/v1/inboxes']) {
    t.match(landing, `https://mail.example.org${call}`);
  }
  t.match(landing, 'href="/approve"');
  t.match(landing, 'href="/openapi.json"');
  const policy = (await browser.open('/policy')).html;
  for (const rule of [
    'account: 2.',
    '24 hours: 25;',
    '25 MiB',
    'for 7 days',
    'postmaster@example.org',
    'Ask.',
  ]) {
    t.match(policy, rule);
  }
});
