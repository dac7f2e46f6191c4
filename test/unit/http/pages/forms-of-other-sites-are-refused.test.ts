import t from 'tap';
import { askByPage, withAccess } from '../with-access.js';

const OWNER = 'owner@elsewhere.example';
const EVIL = 'https://evil.example';
const TRUST = { trustedProxies: ['127.0.0.1'] };

/** A form that was sent so is from elsewhere, whatever is in it. */
const FOREIGN: Record<string, string>[] = [
  { origin: EVIL },
  { origin: EVIL, 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { origin: 'null', 'sec-fetch-site': 'cross-site' },
  { origin: 'https://mail.example.org.evil.example' },
  { origin: 'http://mail.example.org' },
  { origin: 'https://mail.example.org:8443' },
  { origin: '' },
];

t.test('every POST refuses them, with its own form and cookie in hand', async t => {
  const access = await withAccess(t, TRUST);
  const browser = access.browser();
  const path = await askByPage(access, browser, OWNER);
  const [form, confirm] = [await browser.open('/approve'), await browser.open(path)];
  let n = 0;
  for (const headers of FOREIGN) {
    browser.headers = { 'x-forwarded-for': `198.51.100.${++n}` };
    for (const page of [form, confirm]) {
      const answer = await browser.submit(page, page === form ? { email: OWNER } : {}, headers);
      t.match(answer, { status: 403, html: /was not sent from our page/ }, JSON.stringify(headers));
    }
  }
  t.equal((await browser.submit(confirm)).status, 200, 'and leave it good');
});

t.test('so do the calls of the API', async t => {
  const access = await withAccess(t);
  for (const path of ['/v1/signups', '/v1/claims']) {
    for (const origin of [
      EVIL,
      'null',
      '',
      'https://mail.example.org/',
      `https://mail.example.org, ${EVIL}`,
    ]) {
      const answer = await access.call(path, { headers: { origin }, body: {} });
      t.match([answer.status, answer.json.error.code], [403, 'origin_not_allowed'], `${path} ${origin}`);
    }
    const own = await access.call(path, { headers: { origin: 'https://mail.example.org' }, body: {} });
    t.not(own.status, 403, path);
  }
});

t.test('a form without the seal of its page is refused', async t => {
  const access = await withAccess(t, TRUST);
  const browser = access.browser();
  const path = await askByPage(access, browser, OWNER);
  const [form, confirm] = [await browser.open('/approve'), await browser.open(path)];
  const seal = (html: string) => /name="seal" value="([^"]*)"/.exec(html)![1]!;
  const stranger = access.browser();
  const theirs = await stranger.open('/approve');
  let n = 0;
  const post = (target: string, fields: Record<string, string>, as = browser) => {
    as.headers = { 'x-forwarded-for': `198.51.100.${++n}` };
    return as.post(target, fields);
  };
  for (const [what, target, fields] of [
    ['none', '/approve', { email: OWNER }],
    ['nonsense', '/approve', { email: OWNER, seal: 'x' }],
    ['of another form', '/approve', { email: OWNER, seal: seal(confirm.html) }],
    ['of another browser', '/approve', { email: OWNER, seal: seal(theirs.html) }],
    ['none', path, {}],
    ['of another form', path, { seal: seal(form.html) }],
  ] as const) {
    t.match(await post(target, fields), { status: 403, html: /out of date/ }, `${target}: ${what}`);
  }
  const bare = access.browser();
  t.equal((await post(path, { seal: seal(confirm.html) }, bare)).status, 403, 'without the cookie');
  bare.cookies.set('__Host-postern-link', 'x');
  t.equal((await post(path, { seal: seal(confirm.html) }, bare)).status, 403, 'with a cookie of their own');
  t.equal((await post(path, { seal: seal(confirm.html) })).status, 200);
});

t.test('a seal for one link does not approve another', async t => {
  const access = await withAccess(t, { policy: { policy: 'open' } });
  const browser = access.browser();
  const mine = await askByPage(access, browser, 'eve@new.example');
  const theirs = await askByPage(access, browser, OWNER);
  const [, seal = ''] = /name="seal" value="([^"]*)"/.exec((await browser.open(mine)).html)!;
  t.equal((await browser.post(theirs, { seal })).status, 403);
});

t.test('a planted second cookie makes neither count', async t => {
  const access = await withAccess(t);
  const browser = access.browser();
  const form = await browser.open('/approve');
  const own = browser.cookies.get('__Host-postern-form')!;
  browser.cookies.set('__Host-postern-form', `${own}; __Host-postern-form=${'A'.repeat(43)}`);
  t.equal((await browser.submit(form, { email: OWNER })).status, 403);
});

t.test('an old browser, which says less of where a form comes from, is served by the seal', async t => {
  const access = await withAccess(t);
  const browser = access.browser();
  const path = await askByPage(access, browser, OWNER);
  const confirm = await browser.open(path);
  const [, seal = ''] = /name="seal" value="([^"]*)"/.exec(confirm.html)!;
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const send = (headers: Record<string, string>) =>
    access.call(path, { method: 'POST', headers: { ...type, ...headers }, body: `seal=${seal}` });
  t.equal((await send({ origin: 'null' })).status, 403, 'not without the cookie');
  t.equal((await send({ origin: 'null', cookie })).status, 200, 'no-referrer makes it say null');
});

t.test('two tabs with the form work both', async t => {
  const access = await withAccess(t);
  const browser = access.browser();
  const [one, two] = [await browser.open('/approve'), await browser.open('/approve')];
  for (const page of [one, two]) t.equal((await browser.submit(page, { email: OWNER })).status, 303);
  await access.settled();
  await browser.open(`/approve/link/${'0'.repeat(48)}`);
  t.equal((await browser.submit(one, { email: OWNER })).status, 303, 'an opened link does not spoil them');
});
