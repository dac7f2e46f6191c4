import { networkInterfaces } from 'node:os';
import t from 'tap';
import { isListenedAt, listenPlaces, sourceTowards } from '../../../../src/relay/direct/own-addresses.js';
import { namesOf, withRoutes } from './with-routes.js';

const zones = {
  'only.test': { MX: [[10, 'mail.ours.test']] },
  'backup.test': {
    MX: [
      [5, 'near.test'],
      [10, 'mail.ours.test'],
      [10, 'equal.test'],
      [20, 'far.test'],
    ],
  },
  'by-address.test': {
    MX: [
      [5, 'near.test'],
      [10, 'disguised.test'],
      [20, 'far.test'],
    ],
  },
  'bare.test': { A: ['127.0.0.1'] },
  'near.test': { A: ['8.8.8.1'] },
  'equal.test': { A: ['8.8.8.2'] },
  'far.test': { A: ['8.8.8.3'] },
  'disguised.test': { A: ['8.8.8.4', '127.0.0.1'] },
  'router.test': { MX: [[10, 'behind-router.test']] },
  'behind-router.test': { A: ['8.8.8.9'] },
  'mail.ours.test': { A: ['8.8.8.9'] },
} as const;

t.test('our name takes out itself and all that are not nearer', async t => {
  const { routes } = await withRoutes(t, zones);
  t.match(await routes.find('only.test'), { kind: 'none', code: '5.4.6' });
  t.same(namesOf(await routes.find('backup.test')), ['near.test']);
});

t.test('so does an address at which we listen', async t => {
  const { routes } = await withRoutes(t, zones);
  t.same(namesOf(await routes.find('by-address.test')), ['near.test']);
  t.match(await routes.find('bare.test'), { kind: 'none', code: '5.4.6' });
});

t.test('and one that our name has, as behind a router', async t => {
  const { routes } = await withRoutes(t, zones);
  t.match(await routes.find('router.test'), { kind: 'none', code: '5.4.6' });
});

t.test('another port of the machine is another server', async t => {
  const { routes } = await withRoutes(t, zones, {
    listens: () => [{ host: '127.0.0.1', port: 2525 }],
    allow: ['127.0.0.0/8'],
  });
  t.same(namesOf(await routes.find('bare.test')), ['bare.test']);
  t.match(await routes.find('only.test'), { kind: 'none', code: '5.4.6' }, 'but our name is ours');
});

t.test('every port where we take mail is ours, that with TLS from the start too', async t => {
  const smtp = { host: '127.0.0.1', port: 2525, implicitTlsPort: 25 };
  const { routes } = await withRoutes(t, zones, {
    listens: () => listenPlaces(smtp),
    allow: ['127.0.0.0/8'],
  });
  t.match(await routes.find('bare.test'), { kind: 'none', code: '5.4.6' });
  t.same(listenPlaces({ ...smtp, implicitTlsPort: 0 }), [{ host: '127.0.0.1', port: 2525 }]);
});

t.test('a listener at every address has all those of the machine, and no others', async t => {
  const own = Object.values(networkInterfaces())
    .flatMap(list => list ?? [])
    .filter(({ address }) => !address.startsWith('fe80'));
  t.ok(own.length > 0);
  for (const { address } of own) t.ok(await isListenedAt({ host: '::', port: 25 }, address), address);
  t.notOk(await isListenedAt({ host: '::', port: 25 }, '8.8.8.8'));
  t.notOk(await isListenedAt({ host: '127.0.0.1', port: 25 }, '127.0.0.2'));
  t.ok(await isListenedAt({ host: '127.0.0.1', port: 25 }, '127.0.0.1'));
});

t.test('the address from which we would send is known', async t => {
  t.equal(await sourceTowards('127.0.0.1'), '127.0.0.1');
});
