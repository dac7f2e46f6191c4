import t from 'tap';
import { askByPage, withAccess, wordsIn } from '../with-access.js';
import { goToProvider, signIn, withSignIn } from './with-sign-in.js';

const MINUTE_MS = 60_000;

t.test('from the button to a key that works', async t => {
  const server = await withSignIn(t);
  const browser = server.browser();
  t.match((await browser.open('/approve')).html, 'Sign in with Example Login');
  const back = await signIn(server, browser);
  t.match(back, { status: 303, headers: { location: '/approve/confirm' } });
  const confirm = await browser.open('/approve/confirm', { 'sec-fetch-site': 'cross-site' });
  t.equal(confirm.status, 200);
  t.match(confirm.html, '<strong>ann@humans.example</strong>');
  t.match(confirm.html, /You have 1[45] minutes to press Approve; after that, sign in again\./);
  const words = await browser.submit(confirm);
  t.equal(words.status, 200);
  t.equal((await server.redeem(wordsIn(words))).ok, true);
  t.same(server.trail(), ['key_created', 'signed_in', 'approved', 'claimed']);
  t.match(await browser.submit(confirm), { status: 410, html: /This sign-in has been used/ });
  t.match(await browser.open('/approve/confirm'), { status: 403 });
});

t.test('the provider is asked as the standards want it', async t => {
  const server = await withSignIn(t);
  await signIn(server, server.browser());
  await signIn(server, server.browser());
  const [one, two] = server.provider.authorizations.map(query => Object.fromEntries(query));
  t.match(one, {
    response_type: 'code',
    scope: 'openid email',
    redirect_uri: 'https://mail.example.org/approve/oidc/callback',
    prompt: 'login',
    max_age: '900',
    code_challenge_method: 'S256',
  });
  for (const secret of ['state', 'nonce', 'code_challenge'] as const) {
    t.match(one?.[secret], /^[\w-]{43}$/, secret);
    t.not(one?.[secret], two?.[secret], `${secret} is new each time`);
  }
  t.same(server.provider.authentications, ['basic', 'basic']);
});

t.test('a provider that takes its secret in the form gets it there', async t => {
  const server = await withSignIn(t);
  server.provider.behaviour.methods = ['client_secret_post'];
  t.equal((await signIn(server, server.browser())).status, 303);
  t.same(server.provider.authentications, ['post']);
});

t.test('an address that only userinfo tells will do', async t => {
  const server = await withSignIn(t);
  server.provider.behaviour.emailInUserInfo = true;
  t.equal((await signIn(server, server.browser())).status, 303);
  server.provider.behaviour.emailVerified = false;
  t.equal((await signIn(server, server.browser())).status, 403);
});

t.test('what the provider must assert, it must assert', async t => {
  const server = await withSignIn(t, { trustedProxies: ['127.0.0.1'] });
  const { behaviour } = server.provider;
  const usual = { ...behaviour };
  let n = 0;
  for (const [what, change, words] of [
    ['no verified address', { emailVerified: false }, /has not verified/],
    ['a word for it', { emailVerified: 'true' }, /has not verified/],
    ['nothing of it', { emailVerified: undefined }, /has not verified/],
    ['no address', { email: undefined }, /not in order/],
    ['no text for an address', { email: ['ann@humans.example'] }, /not in order/],
    ['no auth_time', { signedInAgoS: null }, /not in order/],
    ['a sign-in of long ago', { signedInAgoS: 3600 }, /not in order/],
    ['one of just over 15 minutes ago', { signedInAgoS: 905 }, /More than 15 minutes/],
    ['an auth_time that is no number', { claims: { auth_time: 'now' } }, /not in order/],
    ['another nonce', { claims: { nonce: 'other' } }, /not in order/],
    ['another audience', { claims: { aud: 'other' } }, /not in order/],
    ['another issuer', { claims: { iss: 'https://evil.example' } }, /not in order/],
    ['a token of the past', { claims: { exp: 1_000_000 } }, /not in order/],
    ['the signature of somebody else', { signsWithOtherKey: true }, /not in order/],
    ['a refusal', { denies: 'access_denied' }, /ended it/],
    ['an error', { denies: 'server_error' }, /not in order/],
  ] as const) {
    Object.assign(behaviour, usual, change);
    const browser = server.browser();
    browser.headers = { 'x-forwarded-for': `198.51.100.${++n}` };
    const back = await signIn(server, browser);
    t.match(back, { status: 403, html: words }, what);
    t.match(await browser.open('/approve/confirm'), { status: 403 }, what);
  }
  t.same(server.trail(), ['key_created']);
});

t.test('whoever may have no access learns that after signing in', async t => {
  const server = await withSignIn(t, { policy: { policy: 'closed' } });
  const browser = server.browser();
  t.match(await signIn(server, browser), { status: 403, html: /No access for this address/ });
  t.equal((await browser.open('/approve/confirm')).status, 403);
  t.same(server.trail(), ['key_created', 'not_eligible']);
});

t.test('Approve can be pressed for 15 minutes from the sign-in', async t => {
  const server = await withSignIn(t);
  server.provider.behaviour.signedInAgoS = 10 * 60;
  const browser = server.browser();
  await signIn(server, browser);
  const confirm = await browser.open('/approve/confirm');
  t.match(confirm.html, /You have [45] minutes/);
  server.house.now.ms += 5 * MINUTE_MS + 1000;
  t.match(await browser.submit(confirm), { status: 403, html: /More than 15 minutes/ });
  t.match(await browser.open('/approve/confirm'), { status: 403 }, 'opening it again restarts nothing');
});

t.test('an answer is taken from the browser that began, and once', async t => {
  const server = await withSignIn(t, { trustedProxies: ['127.0.0.1'] });
  const [attacker, victim] = [server.browser(), server.browser()];
  const back = await goToProvider(server, attacker);
  const flow = attacker.cookies.get('__Host-postern-flow')!;
  await victim.open('/approve');
  t.match(await victim.open(back), { status: 403, html: /did not begin it/ }, 'session fixation');
  t.equal((await victim.open('/approve/confirm')).status, 403);
  await goToProvider(server, victim);
  t.match(await victim.open(back), { status: 403, html: /not in order/ }, 'even amid a sign-in of its own');
  t.equal((await victim.open('/approve/confirm')).status, 403);
  t.equal((await attacker.open(back)).status, 303, 'it was meant for this one');
  t.match(await attacker.open(back), { status: 403, html: /did not begin it/ }, 'replay');
  attacker.cookies.set('__Host-postern-flow', flow);
  t.match(await attacker.open(back), { status: 403, html: /did not begin it/ }, 'with its cookie kept');
  t.equal(server.trail().filter(kind => kind === 'signed_in').length, 1);
});

t.test('answers with a forged state, or none, are refused and end the sign-in', async t => {
  const server = await withSignIn(t, { trustedProxies: ['127.0.0.1'] });
  let n = 0;
  for (const change of [
    (query: URLSearchParams) => query.set('state', 'x'),
    (query: URLSearchParams) => query.delete('state'),
    (query: URLSearchParams) => query.set('code', 'x'),
    (query: URLSearchParams) => query.delete('code'),
    (query: URLSearchParams) => query.append('state', 'x'),
  ]) {
    const browser = server.browser();
    browser.headers = { 'x-forwarded-for': `198.51.100.${++n}` };
    const [path = '', text = ''] = (await goToProvider(server, browser)).split('?');
    const query = new URLSearchParams(text);
    change(query);
    t.equal((await browser.open(`${path}?${query}`)).status, 403);
    t.match(await browser.open(`${path}?${text}`), { status: 403, html: /did not begin it/ });
  }
  t.equal((await server.browser().open('/approve/oidc/callback')).status, 403);
});

t.test('cookies of a sign-in come back from the provider, and go nowhere else', async t => {
  const server = await withSignIn(t);
  const browser = server.browser();
  const begun = await browser.open('/approve/oidc', { 'sec-fetch-site': 'same-origin' });
  t.match(
    begun.headers['set-cookie']?.[0],
    /^__Host-postern-flow=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=600$/,
  );
  const back = new URL(await server.provider.authorize(String(begun.headers.location)));
  const answer = await browser.open(back.pathname + back.search);
  t.match(answer.headers['set-cookie'], [
    /^__Host-postern-flow=; .*Max-Age=0$/,
    /^__Host-postern-signed-in=[0-9a-f]{48}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=900$/,
  ]);
});

t.test('another site can neither begin a sign-in nor press the button', async t => {
  const server = await withSignIn(t);
  const browser = server.browser();
  for (const site of ['cross-site', 'same-site']) {
    const page = await browser.open('/approve/oidc', { 'sec-fetch-site': site });
    t.match(page, { status: 200, html: /Sign in with Example Login/ });
  }
  t.equal((await server.call('/approve/oidc', { method: 'HEAD' })).status, 200);
  t.equal(server.provider.authorizations.length, 0);
  await signIn(server, browser);
  const confirm = await browser.open('/approve/confirm');
  t.equal((await browser.submit(confirm, {}, { origin: 'https://evil.example' })).status, 403);
  t.equal((await browser.post('/approve/confirm', {})).status, 403, 'the cookie alone does not do it');
  t.equal((await browser.submit(confirm)).status, 200);
});

t.test('a provider that is away is told of, and asked anew', async t => {
  const server = await withSignIn(t);
  server.provider.behaviour.isDown = true;
  const browser = server.browser();
  const away = await browser.open('/approve/oidc');
  t.match(away, { status: 503, html: /Example Login does not answer us/ });
  t.equal(server.signInLog.matching(/could not begin/).length, 1);
  server.provider.behaviour.isDown = false;
  t.equal((await signIn(server, browser)).status, 303);
});

t.test('with a sign-in no link is mailed, and one that was mailed before opens nothing', async t => {
  const server = await withSignIn(t);
  t.equal((await server.call('/approve', { method: 'POST', body: 'email=a@b.example' })).status, 405);
  t.equal((await server.browser().open(`/approve/link/${'0'.repeat(48)}`)).status, 404);
  const mailing = await withAccess(t);
  const path = await askByPage(mailing, mailing.browser(), 'owner@elsewhere.example');
  mailing.policy = { ...mailing.policy, proof: 'sign_in' };
  t.equal((await mailing.browser().open(path)).status, 404);
});
