import t from 'tap';
import { claimPhrasesTable, scanAudit } from '../../../../src/store/records/approvals.js';
import { FIRST, LAST } from '../../store/lines.js';
import { HOUR_MS, MINUTE_MS } from '../../usecases/signup/with-approvals.js';
import { type AccessServer, askByPage, withAccess, wordsIn } from '../with-access.js';

const OWNER = 'owner@elsewhere.example';

const phrases = ({ store }: AccessServer) =>
  store.read(reader => reader.scanKeys(claimPhrasesTable, { from: FIRST, to: LAST, limit: 9 }).length);

t.test('programs that follow every link change nothing and lock nobody out', async t => {
  const access = await withAccess(t, { trustedProxies: ['127.0.0.1'] });
  const human = access.browser();
  const path = await askByPage(access, human, OWNER);
  const scanner = access.browser();
  scanner.headers = { 'x-forwarded-for': '198.51.100.9' };
  for (const headers of [{}, { 'sec-purpose': 'prefetch' }, { 'sec-fetch-site': 'cross-site' }]) {
    t.equal((await scanner.open(path, headers)).status, 200);
  }
  const head = await access.call(path, { method: 'HEAD', headers: { 'x-forwarded-for': '198.51.100.9' } });
  t.same([head.status, head.bytes.length], [200, 0]);
  access.house.now.ms += 3 * HOUR_MS;
  t.equal(phrases(access), 0);
  const words = await human.submit(await human.open(path));
  t.equal(words.status, 200, 'the human comes hours later');
  t.equal(phrases(access), 1);
  t.match(wordsIn(words), /\w+ \w+/);
});

t.test('a page that a scanner was given is of no use to others', async t => {
  const access = await withAccess(t);
  const [human, scanner] = [access.browser(), access.browser()];
  const path = await askByPage(access, human, OWNER);
  const scanned = await scanner.open(path);
  t.equal((await human.submit(scanned)).status, 403, 'the seal is for another browser');
  t.equal((await human.submit(await human.open(path))).status, 200);
});

t.test('Approve can be pressed for 15 minutes; opening again restarts them', async t => {
  const access = await withAccess(t);
  const browser = access.browser();
  const path = await askByPage(access, browser, OWNER);
  const early = await browser.open(path);
  access.house.now.ms += 15 * MINUTE_MS + 1;
  const late = await browser.submit(early);
  t.equal(late.status, 403);
  t.match(late.html, `href="${path}">Open it again`);
  const again = await browser.open(path);
  access.house.now.ms += 15 * MINUTE_MS;
  t.equal((await browser.submit(early)).status, 403, 'the old page stays out of date');
  t.equal((await browser.submit(again)).status, 200);
});

t.test('a link is opened for 12 hours and not longer', async t => {
  const access = await withAccess(t);
  const browser = access.browser();
  const path = await askByPage(access, browser, OWNER);
  access.house.now.ms += 12 * HOUR_MS - 1;
  const confirm = await browser.open(path);
  t.equal(confirm.status, 200);
  access.house.now.ms += 1;
  t.match(await browser.open(path), { status: 410, html: /This link has expired/ });
  t.match(await browser.submit(confirm), { status: 410, html: /This link has expired/ });
  await access.house.sweepAll();
  t.match(await browser.open(path), { status: 404, html: /This link does not work/ });
});

t.test('links that were never given out open nothing, whatever they look like', async t => {
  const access = await withAccess(t);
  const browser = access.browser();
  for (const token of ['0'.repeat(48), 'x', '%3Cscript%3E', '%00', 'a%2Fb', '..%2F..']) {
    const page = await browser.open(`/approve/link/${token}`);
    t.match(page, { status: 404, html: /<h1>This link does not work<\/h1>/ }, token);
    t.notMatch(page.html, /<script>|name="seal"/);
  }
  t.equal((await access.call(`/approve/link/${'0'.repeat(48)}`, { method: 'HEAD' })).status, 404);
});

t.test('the trail says who opened a link and who approved', async t => {
  const access = await withAccess(t, { trustedProxies: ['127.0.0.1'] });
  const [human, scanner] = [access.browser(), access.browser()];
  human.headers = { 'x-forwarded-for': '203.0.113.5' };
  scanner.headers = { 'x-forwarded-for': '2001:db8:1::9' };
  const path = await askByPage(access, human, OWNER);
  await scanner.open(path);
  await human.submit(await human.open(path));
  const seen = access.store
    .read(reader => scanAudit(reader, null, 9))
    .map(({ kind, client }) => `${kind} ${client}`)
    .reverse();
  t.same(seen.slice(1), [
    'requested 203.0.113.5',
    'mailed null',
    'opened 2001:db8:1::9',
    'opened 203.0.113.5',
    'approved 203.0.113.5',
  ]);
});
