import t from 'tap';
import { addressesOf, namesOf, withRoutes } from './with-routes.js';

const zones = {
  'inside.test': { MX: [[10, 'db.inside.test']] },
  'db.inside.test': { A: ['10.0.0.5'] },
  'mixed.test': {
    MX: [
      [10, 'metadata.test'],
      [20, 'mx.mixed.test'],
    ],
  },
  'metadata.test': { A: ['169.254.169.254'] },
  'mx.mixed.test': { A: ['192.168.1.1', '8.8.8.1', '127.0.0.9'] },
  'mapped.test': { AAAA: ['::ffff:10.0.0.5', '64:ff9b::a00:5'] },
} as const;

t.test('addresses of private and reserved networks are left out', async t => {
  const { routes } = await withRoutes(t, zones, { ipv6: 'on' });
  t.match(await routes.find('inside.test'), {
    kind: 'none',
    code: '5.4.4',
    detail: /10\.0\.0\.5 of db\.inside\.test is private/,
  });
  t.same(addressesOf(await routes.find('mixed.test')), ['8.8.8.1']);
  t.match(await routes.find('mapped.test'), { kind: 'none', code: '5.4.4' });
});

t.test('unless the operator lists them', async t => {
  const { routes } = await withRoutes(t, zones, { allow: ['10.0.0.0/24'] });
  t.same(addressesOf(await routes.find('inside.test')), ['10.0.0.5']);
  t.same(namesOf(await routes.find('mixed.test')), ['mx.mixed.test']);
});
