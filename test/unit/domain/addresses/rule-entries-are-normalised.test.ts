import t from 'tap';
import {
  normalisePolicyAddresses as normaliseAddresses,
  normalisePolicyDomains as normaliseDomains,
} from '../../../../src/domain/address-policy.js';
import { resultOf } from '../../../../src/domain/errors.js';

const normalisePolicyAddresses = (entries: string[]) => resultOf(() => normaliseAddresses(entries));
const normalisePolicyDomains = (entries: string[]) => resultOf(() => normaliseDomains(entries));

t.test('entries are trimmed, domains get lower case and A-labels, and each entry stays once', async t => {
  t.strictSame(normalisePolicyAddresses([' Ann@Example.COM ', 'Ann@example.com', 'ann@example.com']), {
    ok: true,
    value: ['Ann@example.com', 'ann@example.com'],
  });
  t.strictSame(
    normalisePolicyDomains(['Example.COM', 'bücher.example', 'xn--bcher-kva.example.', 'b.example']),
    {
      ok: true,
      value: ['example.com', 'xn--bcher-kva.example', 'b.example'],
    },
  );
  t.strictSame(normalisePolicyAddresses([]), { ok: true, value: [] });
  t.strictSame(normalisePolicyDomains([]), { ok: true, value: [] });
});

t.test('an entry that is no address is named', async t => {
  for (const bad of [
    'ann',
    '',
    '@example.com',
    'ann@',
    'ann@exa mple.com',
    'a b@example.com',
    'Ann <ann@example.com>',
    'ann@example.com, bob@example.com',
    'ann..b@example.com',
    'ann\u0007@example.com',
    '"ann"b@example.com',
    'ann@[192.0.2.1]',
    'ann@*.example.com',
    'ann@example..com',
    'ann@-example.com',
    `${'a'.repeat(250)}@example.com`,
    `ann@${'a'.repeat(64)}.example`,
  ]) {
    const { ok, failure } = normalisePolicyAddresses(['fine@example.com', bad]) as never;
    t.equal(ok, false, bad.slice(0, 40));
    t.match(failure, { code: 'invalid_request' });
    t.ok((failure as { message: string }).message.includes(`"${bad.slice(0, 254)}`), 'by its words');
  }
  t.match(normalisePolicyAddresses(['example.com']), { failure: { message: /belongs to the domains/ } });
});

t.test('an entry that is no domain is named', async t => {
  for (const bad of [
    '',
    '.',
    'exa mple.com',
    'https://example.com',
    'bücher.example/path',
    'example.com:25',
    'ex%61mple.com',
    '-a.example',
    'a..example',
    '.example',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(127)}example`,
    '[192.0.2.1]',
  ]) {
    const { failure } = normalisePolicyDomains(['fine.example', bad]) as { failure?: { message: string } };
    t.match(failure, { code: 'invalid_request', message: /is no domain name\. Nothing was saved\.$/ }, bad);
    t.ok(failure?.message.startsWith(`In domains: "${bad.slice(0, 254)}`), 'by its words');
  }
  t.match(normalisePolicyDomains(['ann@example.com']), { failure: { message: /belongs to the addresses/ } });
  t.match(normalisePolicyDomains(['*.example.com']), {
    failure: { message: /no(ne)?\. Name each subdomain/ },
  });
});

t.test('a list holds 100 entries, counted once each', async t => {
  const names = Array.from({ length: 100 }, (_, n) => `n${n}.example`);
  t.match(normalisePolicyDomains([...names, 'N7.example', 'n8.EXAMPLE.']), {
    ok: true,
    value: { length: 100 },
  });
  t.match(normalisePolicyDomains([...names, 'more.example']), {
    ok: false,
    failure: { code: 'invalid_request', message: /^In domains: 101 entries.*at most 100/ },
  });
  const addresses = names.map(name => `ann@${name}`);
  t.match(normalisePolicyAddresses(addresses), { ok: true });
  t.match(normalisePolicyAddresses([...addresses, 'Ann@n1.example']), {
    failure: { message: /^In addresses: 101/ },
  });
});
