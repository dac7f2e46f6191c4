import t from 'tap';
import { newId } from '../../../../src/domain/ids.js';
import { DAY_MS } from '../../../../src/domain/instants.js';
import type { Store } from '../../../../src/store/engine/store.js';
import { type DeliveryRecord, saveDelivery } from '../../../../src/store/records/deliveries.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import {
  listDkim,
  publishedDkimKeys,
  retireDkimDomain,
  retireDkimKey,
  rotateDkimKeys,
} from '../../../../src/usecases/dkim/keys.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { DOMAIN, PUBLISHED_MS, withKeys } from './with-keys.js';

const FIRST = ['e20261128 active', 'r20261128 active'];
const WAITING = ['e20261128 active', 'e20261128-2 new', 'r20261128 active', 'r20261128-2 new'];

t.test('the first keys of a domain sign at once, and are made once', async t => {
  const { upkeep, states, keys, asked, zone, deps } = await withKeys(t);
  await upkeep();
  t.same(states(), FIRST);
  const made = keys();
  await upkeep();
  t.same(keys(), made);
  t.same(asked, [], 'no record is looked for');
  t.same(zone.size, 0);
  await upkeep([DOMAIN, 'added.test']);
  t.same(keys(), made);
  t.equal(listDkim(deps, 'added.test').length, 2, 'a domain that was added has keys too');
  t.same(states('added.test'), FIRST);
});

t.test('a new key signs once its own record was seen; the old one signs until then', async t => {
  const { upkeep, states, keys, publish, zone, deps, asked, store } = await withKeys(t);
  await upkeep();
  await rotateDkimKeys(deps, DOMAIN);
  t.same(states(), WAITING);
  await rotateDkimKeys(deps, DOMAIN);
  t.same(states(), WAITING, 'again is no other');
  await upkeep();
  t.same(states(), WAITING, 'no record');
  t.same(asked.sort(), [`e20261128-2._domainkey.${DOMAIN}`, `r20261128-2._domainkey.${DOMAIN}`]);
  const [rsa] = keys().filter(({ selector }) => selector === 'r20261128-2');
  for (const wrong of [
    'failed' as const,
    [rsa!.record, 'v=spf1 -all'],
    [rsa!.record.replace('p=', 'p=A')],
    [rsa!.record.replace('k=rsa', 'k=ed25519')],
    ['v=DKIM1; k=rsa; p='],
    [`${rsa!.record}; h=sha1`],
    [`${rsa!.record}; p=other`],
    [keys().find(({ selector }) => selector === 'r20261128')!.record],
  ]) {
    zone.set(rsa!.name, wrong);
    await upkeep();
    t.same(states(), WAITING, JSON.stringify(wrong));
  }
  zone.set(rsa!.name, [rsa!.record.replace('p=', 'p= ').replace('; k', ';k')]);
  await upkeep();
  t.same(
    states(),
    ['e20261128 active', 'e20261128-2 new', 'r20261128 retired', 'r20261128-2 active'],
    'each key for itself',
  );
  publish(keys());
  await upkeep();
  t.same(states(), ['e20261128 retired', 'e20261128-2 active', 'r20261128 retired', 'r20261128-2 active']);
  t.same(verifyStore(store).faults, []);
});

t.test(
  'a retired key stays published until nothing that it signed can be on its way, and 7 days more',
  async t => {
    const { upkeep, states, keys, publish, deps, now, store } = await withKeys(t);
    await upkeep();
    await rotateDkimKeys(deps, DOMAIN);
    publish(keys());
    await upkeep();
    t.equal(publishedDkimKeys(deps, DOMAIN).length, 4);
    now.ms += PUBLISHED_MS - 1;
    await upkeep();
    t.equal(publishedDkimKeys(deps, DOMAIN).length, 4);
    now.ms += 1;
    await upkeep();
    t.same(states(), ['e20261128-2 active', 'r20261128-2 active']);
    t.same(
      publishedDkimKeys(deps, DOMAIN).map(({ selector }) => selector),
      ['e20261128-2', 'r20261128-2'],
    );
    now.ms = Date.UTC(2026, 10, 28, 13);
    await rotateDkimKeys(deps, DOMAIN);
    t.match(states().join(), /e20261128-3 new.*r20261128-3 new/, 'no selector is used again');
    t.same(verifyStore(store).faults, []);
  },
);

t.test(
  'a retired key stays published while a message that it may have signed is queued, however long',
  async t => {
    const { upkeep, states, keys, publish, deps, now, store } = await withKeys(t);
    await upkeep();
    const ofOther = await queueFrom(store, 'agent@other.test', now.ms);
    const signedBefore = await queueFrom(store, `agent@${DOMAIN}`, now.ms);
    await rotateDkimKeys(deps, DOMAIN);
    publish(keys());
    await upkeep();
    now.ms += PUBLISHED_MS;
    await queueFrom(store, `agent@${DOMAIN}`, now.ms);
    await upkeep();
    t.equal(states().length, 4, 'the service was down, or messages are queued for longer than they were');
    await store.write(writer => saveDelivery(writer, signedBefore, { ...signedBefore, dueAt: null }, now.ms));
    now.ms += 7 * DAY_MS - 1;
    await upkeep();
    t.equal(states().length, 4, '7 days more');
    now.ms += 1;
    await upkeep();
    t.same(states(), ['e20261128-2 active', 'r20261128-2 active']);
    t.ok(ofOther.dueAt, 'mail of another domain is queued all the time');
  },
);

t.test('while the clock is in doubt nothing is taken for over', async t => {
  const { upkeep, keys, publish, deps, now, states } = await withKeys(t);
  await upkeep();
  await rotateDkimKeys(deps, DOMAIN);
  publish(keys());
  await upkeep();
  now.ms += 10 * PUBLISHED_MS;
  Object.assign(deps.clock, { isInDoubt: true });
  await upkeep();
  t.equal(states().length, 4);
  Object.assign(deps.clock, { isInDoubt: false });
  await upkeep();
  t.equal(states().length, 2);
});

t.test('a key is ended by hand, but never the last one that signs', async t => {
  const { upkeep, states, deps, store } = await withKeys(t);
  await upkeep();
  const end = (selector: string) => outcomeOf(() => retireDkimKey(deps, { domain: DOMAIN, selector }));
  t.match(await end('none'), { failure: { code: 'not_found' } });
  await rotateDkimKeys(deps, DOMAIN);
  t.match(await end('r20261128-2'), { ok: true });
  t.same(states(), ['e20261128 active', 'e20261128-2 new', 'r20261128 active'], 'a new one is withdrawn');
  t.match(await end('r20261128'), { ok: true });
  t.same(states(), ['e20261128 active', 'e20261128-2 new', 'r20261128 retired']);
  t.match(await end('e20261128'), { failure: { code: 'invalid_request', message: /only key that signs/ } });
  t.match(await end('r20261128'), { ok: true });
  t.same(states(), ['e20261128 active', 'e20261128-2 new'], 'its record need not be published any more');
  await upkeep();
  t.same(
    states(),
    ['e20261128 active', 'e20261128-2 new', 'r20261128-3 new'],
    'what is lacking is made, and waits where another signs',
  );
  await retireDkimDomain(deps, DOMAIN);
  t.same(states(), ['e20261128 retired']);
  await upkeep();
  t.same(
    states(),
    ['e20261128 retired', 'e20261128-3 active', 'r20261128-4 active'],
    'where none signs, they sign at once',
  );
  t.match(await outcomeOf(() => rotateDkimKeys(deps, 'other.test')), { failure: { code: 'not_found' } });
  t.same(verifyStore(store).faults, []);
});

async function queueFrom(store: Store, from: string, nowMs: number): Promise<DeliveryRecord> {
  const delivery: DeliveryRecord = {
    id: newId(nowMs),
    sentId: newId(nowMs),
    inboxId: newId(nowMs),
    accountId: newId(nowMs),
    domain: 'far.example',
    from,
    content: { id: newId(nowMs), size: 1 },
    recipients: [],
    createdAt: nowMs,
    attempts: 0,
    nextAt: nowMs,
    dueAt: nowMs,
    toldDelay: false,
  };
  await store.write(writer => saveDelivery(writer, null, delivery, nowMs));
  return delivery;
}
