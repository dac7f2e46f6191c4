import t from 'tap';
import { askByPage, withAccess, wordsIn } from '../with-access.js';

const OWNER = 'owner@elsewhere.example';

t.test('from the form to a key that works', async t => {
  const access = await withAccess(t);
  await access.house.addInbox('agent');
  const browser = access.browser();
  const first = await browser.open('/approve');
  t.equal(first.status, 200);
  t.match(first.html, /<html lang="en">[\s\S]*<title>Approve access for an AI agent - Postern<\/title>/);
  t.match(first.html, /<label for="email">[\s\S]*<input id="email" name="email" type="email"/);
  const path = await askByPage(access, browser, OWNER);
  t.equal(access.sent[0]?.to, OWNER);
  t.match((await browser.open('/approve/sent')).html, /<h1>Check your mail<\/h1>/);

  const confirm = await browser.open(path, { 'sec-fetch-site': 'cross-site' });
  t.equal(confirm.status, 200);
  t.match(confirm.html, `<strong>${OWNER}</strong>`);
  t.match(
    confirm.html,
    /whole Postern account[\s\S]*read all mail, send mail, label and delete mail and create and delete inboxes\.[\s\S]*agent@example\.org/,
  );
  t.match(confirm.html, 'Nothing has been granted yet');

  const words = await browser.submit(confirm);
  t.equal(words.status, 200);
  t.match(wordsIn(words), /^([a-z]{4,8} ){5}[a-z]{4,8}$/);
  t.match(words.html, /<label for="words">[\s\S]*<textarea id="words" readonly/);
  t.match(words.html, '2026-01-15 18:00 UTC');

  const claim = await access.call('/v1/claims', { body: { phrase: wordsIn(words) } });
  t.equal(claim.status, 201);
  const headers = { authorization: `Bearer ${claim.json.credential}` };
  t.equal((await access.call('/v1/inboxes', { headers })).json.inboxes.length, 1);
  t.same(access.trail(), ['key_created', 'requested', 'mailed', 'opened', 'approved', 'claimed']);
});

t.test('the second press is told clearly, and gets no words', async t => {
  const access = await withAccess(t);
  const browser = access.browser();
  const confirm = await browser.open(await askByPage(access, browser, OWNER));
  const [one, two] = await Promise.all([browser.submit(confirm), browser.submit(confirm)]);
  t.same([one.status, two.status].sort(), [200, 410]);
  const second = one.status === 410 ? one : two;
  t.match(second.html, /<h1>This link has been used<\/h1>/);
  t.notMatch(second.html, /<textarea/);
  t.match((await browser.submit(confirm)).html, 'This link has been used', 'reloading is no way either');
  t.equal((await browser.open(confirm.html.match(/action="([^"]*)"/)![1]!)).status, 410);
});

t.test('a new address learns that it gets an account', async t => {
  const access = await withAccess(t, { policy: { policy: 'open' } });
  const browser = access.browser();
  const confirm = await browser.open(await askByPage(access, browser, 'ann@new.example'));
  t.match(confirm.html, 'You have no account here yet');
  t.equal((await browser.submit(confirm)).status, 200);
});

t.test('what an account may not do is not said to be granted', async t => {
  const access = await withAccess(t);
  const { getAccount, putAccount } = await import('../../../../src/store/records/accounts.js');
  await access.store.write(writer => {
    const account = getAccount(writer, access.house.account)!;
    putAccount(writer, { ...account, permissions: { send: false, delete: false, restore: true } });
  });
  const browser = access.browser();
  const confirm = await browser.open(await askByPage(access, browser, OWNER));
  t.match(confirm.html, 'It can read all mail, label mail and create inboxes.');
  t.match(confirm.html, 'There is no inbox in the account yet.');
});

t.test('an address with a slip comes back with words at the field and above it', async t => {
  const access = await withAccess(t);
  const browser = access.browser();
  for (const [typed, problem] of [
    ['', 'Enter your email address.'],
    ['  ', 'Enter your email address.'],
    ['ann', 'Enter an email address like name@example.com.'],
    [`${'x'.repeat(65)}@example.org`, 'Enter an email address'],
    ['Ann <ann@example.org>', 'Enter an email address'],
    ['ann@example.org, ben@example.org', 'Enter an email address'],
    ['ann@example.org\r\nBcc: eve@evil.example', 'Enter an email address'],
    ['änn@example.org', 'Enter an email address'],
  ] as const) {
    browser.headers = { 'x-forwarded-for': '' };
    const page = await browser.submit(await browser.open('/approve'), { email: typed });
    t.equal(page.status, 400, typed);
    t.match(page.html, /<title>Error: /);
    t.match(page.html, /role="alert" tabindex="-1" autofocus>[\s\S]*<a href="#email">/);
    t.match(page.html, /aria-invalid="true" aria-describedby="problem hint"/);
    t.match(page.html, problem);
  }
  await access.settled();
  t.same(access.sent, []);
});

t.test('white space around an address does not matter', async t => {
  const access = await withAccess(t);
  await askByPage(access, access.browser(), `  ${OWNER.toUpperCase()}\t`);
  t.equal(access.sent[0]?.to, OWNER);
});
