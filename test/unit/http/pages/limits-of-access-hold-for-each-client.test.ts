import t from 'tap';
import { MINUTE_MS } from '../../usecases/signup/with-approvals.js';
import { type AccessServer, withAccess } from '../with-access.js';

const PROXY = { trustedProxies: ['127.0.0.1'] };
const from = (address: string) => ({ 'x-forwarded-for': address });

const signup = (access: AccessServer, headers: Record<string, string> = {}) =>
  access.call('/v1/signups', { headers, body: {} });
const claim = (
  access: AccessServer,
  headers: Record<string, string> = {},
  body: object = { phrase: 'guess' },
) => access.call('/v1/claims', { headers, body });

t.test('signups: 10 in an hour, then 429 with the time to wait', async t => {
  const access = await withAccess(t);
  for (let n = 0; n < 10; n++) t.equal((await signup(access)).status, 202);
  access.house.now.ms += 20 * MINUTE_MS;
  const refused = await signup(access);
  t.same([refused.status, refused.json.error.code], [429, 'rate_limited']);
  t.equal(refused.headers['retry-after'], '2400');
  t.equal((await claim(access)).status, 400, 'each call has its own limit');
  access.house.now.ms += 40 * MINUTE_MS;
  t.equal((await signup(access)).status, 202);
});

t.test('claims: 10 in 15 minutes, whatever they come to, before anything else is looked at', async t => {
  const access = await withAccess(t);
  const phrase = await access.phraseFor('owner@elsewhere.example');
  for (let n = 0; n < 8; n++) t.equal((await claim(access)).status, 400);
  t.equal((await access.call('/v1/claims', { method: 'POST', body: 'no JSON' })).status, 415);
  t.equal((await claim(access, {}, { unknown: 1 })).status, 400);
  const refused = await claim(access, {}, { phrase });
  t.equal(refused.status, 429, 'even the right phrase waits');
  t.equal(refused.headers['retry-after'], '900');
  t.equal((await access.call('/v1/claims', { method: 'POST', body: 'no JSON' })).status, 429);
  access.house.now.ms += 15 * MINUTE_MS;
  t.equal((await claim(access, {}, { phrase })).status, 201);
});

t.test('a foreign page uses nothing up', async t => {
  const access = await withAccess(t);
  for (let n = 0; n < 20; n++) {
    t.equal((await claim(access, { origin: 'https://evil.example' })).status, 403);
  }
  t.equal((await claim(access)).status, 400);
});

t.test('browsers: 10 in 15 minutes of what asks, opens or approves; reading is free', async t => {
  const access = await withAccess(t);
  const browser = access.browser();
  for (let n = 0; n < 30; n++) t.equal((await browser.open('/approve')).status, 200);
  for (let n = 0; n < 3; n++) await access.call('/approve/link/x', { method: 'HEAD' });
  for (let n = 0; n < 3; n++) t.equal((await browser.open(`/approve/link/${n}`)).status, 404);
  for (let n = 0; n < 4; n++) {
    t.equal((await browser.submit(await browser.open('/approve'), { email: `a${n}@b.example` })).status, 303);
  }
  for (const page of [
    await browser.open('/approve/link/x'),
    await browser.submit(await browser.open('/approve'), { email: 'a@b.example' }),
    await browser.post('/approve/link/x', {}),
  ]) {
    t.match(page, { status: 429, headers: { 'retry-after': '900' }, html: /<h1>Too many attempts<\/h1>/ });
  }
  t.equal((await browser.open('/approve')).status, 200);
  access.house.now.ms += 15 * MINUTE_MS;
  t.equal((await browser.open('/approve/link/x')).status, 404);
});

t.test('a client is an IPv4 address or an IPv6 /64', async t => {
  const access = await withAccess(t, PROXY);
  for (let n = 0; n < 10; n++) {
    t.equal((await claim(access, from(`2001:db8:1:2::${n}`))).status, 400);
    t.equal((await claim(access, from('192.0.2.1'))).status, 400);
  }
  for (const same of [
    '2001:db8:1:2:ffff::1',
    '[2001:DB8:1:2::5]:4711',
    '192.0.2.1',
    '::ffff:192.0.2.1',
    '192.0.2.1:80',
  ]) {
    t.equal((await claim(access, from(same))).status, 429, same);
  }
  for (const other of ['2001:db8:1:3::1', '192.0.2.2']) {
    t.equal((await claim(access, from(other))).status, 400, other);
  }
});

t.test('what a client writes into X-Forwarded-For gives it no other address', async t => {
  const access = await withAccess(t, PROXY);
  for (let n = 0; n < 10; n++) t.equal((await claim(access, from(`10.1.1.${n}, 192.0.2.1`))).status, 400);
  t.equal((await claim(access, from('10.9.9.9, 192.0.2.1'))).status, 429);
  t.equal(
    (await claim(access, from('10.9.9.9, 192.0.2.1, 127.0.0.1'))).status,
    429,
    'our own hops do not count',
  );
});

t.test('without a trusted proxy nobody has a say in it', async t => {
  const access = await withAccess(t);
  for (let n = 0; n < 10; n++) t.equal((await claim(access, from(`192.0.2.${n}`))).status, 400);
  t.equal((await claim(access, from('192.0.2.99'))).status, 429);
});
