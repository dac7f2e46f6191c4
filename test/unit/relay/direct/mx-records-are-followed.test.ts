import t from 'tap';
import { addressesOf, namesOf, withRoutes } from './with-routes.js';

t.test('hosts by preference, each with its addresses', async t => {
  const { routes } = await withRoutes(t, {
    'example.com': {
      MX: [
        [20, 'second.example.com'],
        [10, 'First.example.com'],
      ],
    },
    'first.example.com': { A: ['8.8.8.1'] },
    'second.example.com': { A: ['8.8.8.2'] },
  });
  t.same(await routes.find('example.com'), {
    kind: 'hosts',
    tls: 'opportunistic',
    hosts: [
      {
        name: 'first.example.com',
        preference: 10,
        addresses: [{ address: '8.8.8.1', family: 4 }],
        dane: null,
      },
      {
        name: 'second.example.com',
        preference: 20,
        addresses: [{ address: '8.8.8.2', family: 4 }],
        dane: null,
      },
    ],
  });
});

t.test('equal ones take turns', async t => {
  const { routes } = await withRoutes(t, {
    'example.com': {
      MX: [
        [10, 'a.example.com'],
        [10, 'b.example.com'],
        [5, 'first.example.com'],
      ],
    },
    'a.example.com': { A: ['8.8.8.1'] },
    'b.example.com': { A: ['8.8.8.2'] },
    'first.example.com': { A: ['8.8.8.3'] },
  });
  const orders = new Set<string>();
  for (let time = 0; time < 40; time++) orders.add(String(namesOf(await routes.find('example.com'))));
  t.same([...orders].sort(), [
    'first.example.com,a.example.com,b.example.com',
    'first.example.com,b.example.com,a.example.com',
  ]);
});

t.test('without MX records, the domain is its own mail server', async t => {
  const { routes } = await withRoutes(t, {
    'example.com': { A: ['8.8.8.1'] },
    'alias.test': { CNAME: 'example.com' },
  });
  t.same(namesOf(await routes.find('example.com')), ['example.com']);
  t.same(addressesOf(await routes.find('alias.test')), ['8.8.8.1']);
});

t.test('MX records count even when their hosts have no address: the domain itself is not tried', async t => {
  const { routes } = await withRoutes(t, {
    'example.com': { A: ['8.8.8.1'], MX: [[10, 'gone.example.com']] },
  });
  t.match(await routes.find('example.com'), {
    kind: 'none',
    code: '5.4.4',
    detail: /gone\.example\.com has no/,
  });
});

t.test('a host without an address is passed over', async t => {
  const { routes } = await withRoutes(t, {
    'example.com': {
      MX: [
        [10, 'gone.example.com'],
        [20, 'mx.example.com'],
      ],
    },
    'mx.example.com': { A: ['8.8.8.1'] },
  });
  t.same(namesOf(await routes.find('example.com')), ['mx.example.com']);
});

t.test('a host that is named twice is tried once, at its best place', async t => {
  const { routes } = await withRoutes(t, {
    'example.com': {
      MX: [
        [20, 'mx.example.com'],
        [10, 'MX.example.com'],
      ],
    },
    'mx.example.com': { A: ['8.8.8.1'] },
  });
  t.match(await routes.find('example.com'), { hosts: [{ name: 'mx.example.com', preference: 10 }] });
});

t.test('hosts and addresses are bounded', async t => {
  const hosts = Array.from({ length: 60 }, (_, at) => `h${at}.example.com`);
  const addresses = (at: number) => Array.from({ length: 30 }, (_, n) => `8.8.${at}.${n + 1}`);
  const { routes, server } = await withRoutes(t, {
    'example.com': { MX: hosts.map((name, at) => [at, name] as const) },
    ...Object.fromEntries(hosts.map((name, at) => [name, { A: addresses(at) }])),
  });
  const route = await routes.find('example.com');
  t.same(namesOf(route), ['h0.example.com', 'h1.example.com', 'h2.example.com', 'h3.example.com']);
  t.equal((addressesOf(route) as string[]).length, 20);
  const looked = new Set(server.asked.map(({ name }) => name).filter(name => hosts.includes(name)));
  t.equal(looked.size, 10);
});
