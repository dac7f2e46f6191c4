import t from 'tap';
import { withRoutes } from './with-routes.js';

/** Near the largest reply that DNS can carry (64 KiB). */
const MX = Array.from({ length: 1_500 }, (_, n) => [10 + n, `m${n}.example.com`] as const);
const A = Array.from({ length: 2_000 }, (_, n) => `8.8.${n >> 8}.${n & 255}`);

t.test('of thousands of MX and address records some are tried, and few are asked for', async t => {
  const { routes, server } = await withRoutes(t, {
    'example.com': { MX },
    ...Object.fromEntries(MX.map(([, name]) => [name, { A }])),
  });
  const route = await routes.find('example.com');
  if (route.kind !== 'hosts') return t.fail(JSON.stringify(route));
  t.ok(route.hosts.length <= 10, `${route.hosts.length} hosts`);
  t.equal(
    route.hosts.reduce((sum, { addresses }) => sum + addresses.length, 0),
    20,
  );
  const names = new Set(server.asked.map(({ name }) => name));
  t.ok(names.size <= 12, `${names.size} names were asked for`);
});

t.test('aliases that go round are for later, also as a mail server', async t => {
  const { routes } = await withRoutes(t, {
    'loop.example': { CNAME: 'round.example' },
    'round.example': { CNAME: 'loop.example' },
    'example.com': { MX: [[10, 'loop.example']] },
  });
  t.match(await routes.find('loop.example'), { kind: 'later' });
  t.match(await routes.find('example.com'), { kind: 'later' });
});
