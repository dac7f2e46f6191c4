import t from 'tap';
import { type AccessServer, type Page, withAccess } from '../with-access.js';

const OWNER = 'owner@elsewhere.example';
const ADDRESSES = [OWNER, 'nobody@elsewhere.example', 'postmaster@example.org', 'ann@guests.example'];

/** What of an answer may differ: the time and the id of the request. */
function comparable({ status, headers, html }: Page) {
  const { date, 'x-request-id': id, 'set-cookie': cookie, ...rest } = headers;
  return {
    status,
    rest,
    html,
    isTimed: date !== undefined && id !== undefined,
    hasCookie: cookie !== undefined,
  };
}

t.test('status, headers and page are the same, eligible or not', async t => {
  const access = await withAccess(t);
  const answers: object[] = [];
  for (const email of ADDRESSES) {
    const browser = access.browser();
    const sent = await browser.submit(await browser.open('/approve'), { email });
    const page = await browser.open(String(sent.headers.location));
    answers.push({ sent: comparable(sent), page: comparable(page) });
  }
  for (const answer of answers) t.same(answer, answers[0]);
  await access.settled();
  t.same(
    access.sent.map(({ to }) => to),
    [OWNER],
  );
});

/** Counts what the store is asked to do from now on. */
function countStore({ store }: AccessServer): () => number {
  let times = 0;
  for (const name of ['read', 'write'] as const) {
    const work = store[name].bind(store) as (unit: never) => never;
    const counted = (unit: never) => {
      times += 1;
      return work(unit);
    };
    Object.defineProperty(store, name, { configurable: true, value: counted });
  }
  return () => times;
}

t.test('nothing that could tell them apart happens before the answer', async t => {
  for (const email of ADDRESSES) {
    let open = () => {};
    const gate = new Promise<void>(resolve => {
      open = resolve;
    });
    const access = await withAccess(t, { gate });
    const browser = access.browser();
    const form = await browser.open('/approve');
    const storeUses = countStore(access);
    t.equal((await browser.submit(form, { email })).status, 303);
    t.equal(storeUses(), 0, `${email}: the whole answer came without a look at the store`);
    open();
    await access.settled();
    t.ok(storeUses() > 0, 'which follows it');
  }
});

t.test('the fourth request for an address in an hour is refused alike', async t => {
  for (const email of [OWNER, 'nobody@elsewhere.example']) {
    const access = await withAccess(t);
    const browser = access.browser();
    const ask = async (typed: string) => browser.submit(await browser.open('/approve'), { email: typed });
    for (const spelling of [email, email.toUpperCase(), ` ${email}`])
      t.equal((await ask(spelling)).status, 303);
    const refused = await ask(email);
    t.equal(refused.status, 429);
    t.equal(refused.headers['retry-after'], '3600');
    t.match(refused.html, /<h1>Too many attempts<\/h1>[\s\S]*Try again in 60 minutes/);
    access.house.now.ms += 3_600_000;
    t.equal((await ask(email)).status, 303);
  }
});
