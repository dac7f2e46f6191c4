import { createHash } from 'node:crypto';
import t from 'tap';
import { askByPage, type Page, withAccess } from '../with-access.js';

const OWNER = 'owner@elsewhere.example';

/** The policy of a page, by directive. */
function policyOf(page: Page): Record<string, string> {
  const text = String(page.headers['content-security-policy']);
  return Object.fromEntries(
    text.split('; ').map(directive => {
      const at = directive.indexOf(' ');
      return [directive.slice(0, at), directive.slice(at + 1)];
    }),
  );
}

const hashOf = (html: string, tag: string) => {
  const [, content] = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(html) ?? [];
  return content === undefined
    ? undefined
    : `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
};

t.test('nothing but their own style and script runs, and nobody frames them', async t => {
  const access = await withAccess(t);
  const browser = access.browser();
  const confirm = await browser.open(await askByPage(access, browser, OWNER));
  const words = await browser.submit(confirm);
  const pages: Record<string, Page> = {
    landing: await browser.open('/'),
    policy: await browser.open('/policy'),
    form: await browser.open('/approve'),
    sent: await browser.open('/approve/sent'),
    confirm,
    words,
    used: await browser.submit(confirm),
    unknown: await browser.open('/approve/link/x'),
    foreign: await browser.post('/approve', {}, { origin: 'https://evil.example' }),
  };
  for (const [name, page] of Object.entries(pages)) {
    const { 'script-src': script, ...rest } = policyOf(page);
    t.same(
      rest,
      {
        'default-src': "'none'",
        'style-src': hashOf(page.html, 'style'),
        'form-action': "'self'",
        'frame-ancestors': "'none'",
        'base-uri': "'none'",
      },
      name,
    );
    t.equal(script, name === 'words' ? hashOf(page.html, 'script') : undefined, name);
    t.match(
      page.headers,
      {
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'cross-origin-opener-policy': 'same-origin',
        'x-request-id': /./,
      },
      name,
    );
    t.notMatch(
      page.html,
      /(?:src|href)="(?:https?:)?\/\/(?!mail\.example\.org\/)/,
      `${name}: nothing of others`,
    );
    t.notMatch(page.html, / style=| on[a-z]+=/, `${name}: no style or script in attributes`);
  }
});

t.test(
  'cookies are bound to the host over TLS, and are never read by scripts or sent by other sites',
  async t => {
    for (const [publicUrl, pattern] of [
      [
        'https://mail.example.org',
        /^__Host-postern-(?:form|link)=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
      ],
      ['http://localhost:8025', /^postern-(?:form|link)=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/],
    ] as const) {
      const access = await withAccess(t, { publicUrl });
      const browser = access.browser();
      const form = await browser.open('/approve');
      t.equal((await browser.submit(form, { email: OWNER })).status, 303);
      await access.settled();
      const path = /\/approve\/link\/\w+/.exec(access.sent[0]?.text ?? '')![0];
      const confirm = await browser.open(path);
      for (const page of [form, confirm]) {
        t.equal(page.headers['set-cookie']?.length, 1);
        t.match(page.headers['set-cookie']?.[0], pattern);
      }
      t.equal((await browser.open('/approve')).headers['set-cookie'], undefined, 'one is enough');
    }
  },
);

t.test('a page that fails by a fault of ours says so, and nothing of it', async t => {
  const access = await withAccess(t, {
    pages: () => [
      {
        page: true,
        method: 'GET',
        path: '/approve',
        handle: () => {
          throw new Error('secret of the house');
        },
      },
    ],
  });
  const page = await access.browser().open('/approve');
  t.equal(page.status, 500);
  t.match(page.html, /<h1>Something went wrong<\/h1>/);
  t.notMatch(page.html, /secret of the house/);
  t.match(page.headers['content-security-policy'], /default-src 'none'/);
});

t.test('HEAD answers like GET, without the page', async t => {
  const access = await withAccess(t);
  for (const path of ['/', '/policy', '/approve', '/approve/sent']) {
    const [get, head] = [await access.call(path), await access.call(path, { method: 'HEAD' })];
    t.same([head.status, head.bytes.length], [200, 0], path);
    t.equal(head.headers['content-type'], get.headers['content-type']);
    t.equal(head.headers['content-security-policy'], get.headers['content-security-policy']);
  }
});
