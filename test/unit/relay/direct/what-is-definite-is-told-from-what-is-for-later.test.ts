import t from 'tap';
import { namesOf, withRoutes } from './with-routes.js';

t.test('no such domain, none that takes mail: final', async t => {
  const { routes } = await withRoutes(t, {
    'null.test': { MX: [[0, '']], A: ['8.8.8.1'] },
    'bare.test': { TXT: ['nothing for mail'] },
    'words.test': { MX: [[10, 'no host.test']] },
  });
  t.match(await routes.find('nowhere.test'), { kind: 'none', code: '5.1.2' });
  t.match(await routes.find('null.test'), { kind: 'none', code: '5.1.10', detail: /null MX/ });
  t.match(await routes.find('bare.test'), { kind: 'none', code: '5.4.4' });
  t.match(await routes.find('words.test'), { kind: 'none', code: '5.4.4', detail: /name no host/ });
});

t.test('what could not be looked up: later', async t => {
  const times = { tryMs: 100, totalMs: 400 };
  const zones = {
    'mx-broken.test': { fault: 'servfail' },
    'mx-silent.test': { fault: 'silent' },
    'a-broken.test': { MX: [[10, 'broken.test']] },
    'bare-broken.test': { fault: { A: 'servfail' } },
    'broken.test': { fault: 'servfail' },
  } as const;
  const { routes } = await withRoutes(t, zones, { times });
  for (const domain of Object.keys(zones)) {
    t.match(await routes.find(domain), { kind: 'later', code: '4.4.3' }, domain);
  }
});

t.test('a host that can be reached is enough', async t => {
  const { routes } = await withRoutes(t, {
    'example.com': {
      MX: [
        [10, 'broken.example.com'],
        [20, 'mx.example.com'],
      ],
    },
    'broken.example.com': { fault: 'servfail' },
    'mx.example.com': { A: ['8.8.8.1'] },
  });
  t.same(namesOf(await routes.find('example.com')), ['mx.example.com']);
});

t.test('one host that may be back is waited for, whatever the others lack', async t => {
  const { routes } = await withRoutes(t, {
    'example.com': {
      MX: [
        [10, 'gone.example.com'],
        [20, 'broken.example.com'],
      ],
    },
    'broken.example.com': { fault: 'servfail' },
  });
  t.match(await routes.find('example.com'), { kind: 'later', code: '4.4.3', detail: /broken\.example\.com/ });
});

t.test('one deadline holds for the whole route', async t => {
  const { routes } = await withRoutes(
    t,
    { 'example.com': { MX: [[10, 'mx.example.com']] }, 'mx.example.com': { fault: 'silent' } },
    { deadlineMs: 300 },
  );
  t.match(await routes.find('example.com'), { kind: 'later', code: '4.4.3', detail: /in time/ });
});
