import t from 'tap';
import { html } from '../../../../src/http/pages/html.js';
import { Layout } from '../../../../src/http/pages/layout.js';
import { askByPage, withAccess } from '../with-access.js';

const NASTY = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&amp;`;

/** The nasty text as markup, anywhere. */
const LIVE = /<script>alert|<img src=x|onerror='/;

t.test('texts become text, in content and in attributes', async t => {
  const page = html`<p title="${NASTY}">${NASTY}</p>`.markup;
  t.notMatch(page, LIVE);
  t.equal(
    page,
    '<p title="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&#39;alert(2)&#39;&gt;&amp;amp;">&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&#39;alert(2)&#39;&gt;&amp;amp;</p>',
  );
  t.equal(html`${html`<b>${'<'}</b>`}${[html`<i>`, html`</i>`]}${null}${7}`.markup, '<b>&lt;</b><i></i>7');
});

t.test('the name of the service', async t => {
  const access = await withAccess(t, { serviceName: `P${NASTY}` });
  const browser = access.browser();
  const path = await askByPage(access, browser, 'owner@elsewhere.example');
  const confirm = await browser.open(path);
  const pages = [
    await browser.open('/'),
    await browser.open('/policy'),
    await browser.open('/approve'),
    await browser.open('/approve/sent'),
    confirm,
    await browser.submit(confirm),
    await browser.submit(confirm),
    await browser.post('/approve', {}, { origin: 'https://evil.example' }),
  ];
  for (const page of pages) {
    t.notMatch(page.html, LIVE);
    t.match(page.html, '&lt;script&gt;alert(1)');
  }
});

t.test('an address that somebody typed', async t => {
  const access = await withAccess(t, { policy: { policy: 'open' } });
  const browser = access.browser();
  const wrong = await browser.submit(await browser.open('/approve'), { email: NASTY });
  t.equal(wrong.status, 400);
  t.notMatch(wrong.html, LIVE);
  t.match(wrong.html, 'value="&quot;&gt;&lt;script');
  // The grammar of addresses allows for some of it.
  const odd = `a'&=b{|}~/*!#$%@new.example`;
  const confirm = await browser.open(await askByPage(access, browser, odd));
  t.match(confirm.html, '<strong>a&#39;&amp;=b{|}~/*!#$%@new.example</strong>');
  t.match((await browser.submit(confirm)).html, '<strong>a&#39;&amp;=b');
});

t.test('a link, in the page that it leads to', async t => {
  const access = await withAccess(t);
  const browser = access.browser();
  for (const token of [NASTY, `"'<>`].map(encodeURIComponent)) {
    t.notMatch((await browser.open(`/approve/link/${token}`)).html, LIVE);
    const answer = await browser.post(`/approve/link/${token}`, { seal: NASTY });
    t.equal(answer.status, 403);
    t.notMatch(answer.html, LIVE);
    t.match(
      answer.html,
      `href="/approve/link/${token.replaceAll("'", '&#39;')}"`,
      'and stays a path of ours',
    );
  }
});

t.test('mail carries no words of whoever asked for it', async t => {
  const access = await withAccess(t, { trustedProxies: ['127.0.0.1'] });
  const browser = access.browser();
  browser.headers = {
    'x-forwarded-for': 'Click <https://evil.example>, 203.0.113.5',
    'user-agent': 'Click https://evil.example',
    referer: 'https://evil.example/click',
  };
  await askByPage(access, browser, 'owner@elsewhere.example');
  t.notMatch(access.sent[0]?.text ?? '', /evil|click/i);
  t.match(access.sent[0]?.text, 'from the network address 203.0.113.5.');
  t.ok(/^[\x20-\x7e\n]*$/.test(access.sent[0]?.text ?? ''));
  t.ok((access.sent[0]?.text ?? '').split('\n').every(line => line.length <= 90));
});

t.test('rules of use elsewhere are linked to, not run', async t => {
  const layout = new Layout({
    name: 'P',
    publicUrl: 'https://mail.example.org',
    policyUrl: `https://example.com/?a="><script>alert(1)</script>`,
  });
  const reply = layout.page({ title: 'x', body: html`` });
  t.notMatch(reply.kind === 'page' ? reply.html : '', LIVE);
});
