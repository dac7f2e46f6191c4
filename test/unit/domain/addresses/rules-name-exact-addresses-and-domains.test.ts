import fc from 'fast-check';
import t from 'tap';
import {
  type AddressPolicy,
  blockedRecipients,
  blocksSender as blocks,
  normalisePolicyAddresses,
  normalisePolicyDomains,
  toSenders,
} from '../../../../src/domain/address-policy.js';
import { isSourceRouted } from '../../../../src/domain/addresses.js';
import { resultOf } from '../../../../src/domain/errors.js';

const blocksSender = (rules: AddressPolicy, from: string[]) => blocks(rules, toSenders(from));

const policy = (addresses: string[], domains: string[], enabled = true): AddressPolicy => ({
  enabled,
  addresses: normalisePolicyAddresses(addresses),
  domains: normalisePolicyDomains(domains),
});

// Letter case of local parts counts, that of domains does not; plus tags and dots count; subdomains are not covered.
const CASES: readonly (readonly [claim: string, entry: string, address: string, isMatch: boolean])[] = [
  ['the same address', 'ann@example.com', 'ann@example.com', true],
  ['the domain in another letter case', 'ann@Example.COM', 'ann@eXample.com', true],
  ['the local part in another letter case', 'ann@example.com', 'Ann@example.com', false],
  ['an address with a tag', 'ann@example.com', 'ann+tag@example.com', false],
  ['an entry with a tag', 'ann+tag@example.com', 'ann+tag@example.com', true],
  ['dots in the local part', 'ann.b@example.com', 'annb@example.com', false],
  ['another domain', 'ann@example.com', 'ann@example.net', false],
  ['a subdomain', 'ann@example.com', 'ann@mail.example.com', false],
  ['quotes that are not needed', '"ann"@example.com', 'ann@example.com', true],
  ['quotes that are needed', '"a\\n\\"n n"@example.com', '"an\\"n n"@example.com', true],
  ['an @ within quotes', '"ann@example.net"@example.com', 'ann@example.net', false],
  ['letters beyond ASCII, composed or not', 'jo\u0308rg@example.com', 'jörg@example.com', true],
  ['a U-label and its A-label', 'ann@bücher.example', 'ann@xn--bcher-kva.example', true],
  ['an A-label and its U-label in capitals', 'ann@XN--BCHER-KVA.example', 'ann@BÜCHER.example', true],
  ['a dot behind the domain', 'ann@example.com', 'ann@example.com.', true],
  ['the domain of any address', 'example.com', 'Who.Ever+tag@EXAMPLE.com', true],
  ['the domain, with a local part that is none', 'example.com', 'a b..@example.com', true],
  ['the domain, without a local part', 'example.com', '@example.com', true],
  ['a subdomain of the domain', 'example.com', 'ann@mail.example.com', false],
  ['the parent of the domain', 'mail.example.com', 'ann@example.com', false],
  ['a domain that ends in it', 'example.com', 'ann@notexample.com', false],
  ['the domain before the last @', 'example.com', 'ann@example.com@example.net', false],
  ['a character that IDNA drops', 'example.com', 'ann@exam\u00adple.com', true],
  ['the full stop of CJK', 'example.com', 'ann@example\u3002com', true],
  ['a domain with an escape', 'example.com', 'ann@ex%61mple.com', false],
  ['a domain with a path behind it', 'bücher.example', 'ann@bücher.example/x', false],
  ['a domain with a port behind it', 'bücher.example', 'ann@bücher.example:25', false],
  ['a word', 'example.com', 'example.com', false],
  ['nothing', 'example.com', '', false],
];

for (const [claim, entry, address, isMatch] of CASES) {
  t.test(`${claim}: ${entry} ${isMatch ? 'is' : 'is not'} ${address}`, async t => {
    const rules = entry.includes('@') ? policy([entry], []) : policy([], [entry]);
    t.strictSame(blockedRecipients(rules, [address]), isMatch ? [] : [address]);
    t.equal(blocksSender(rules, [address]), isMatch);
  });
}

t.test('sending: every recipient must be named, with no entries nobody is', async t => {
  const rules = policy(['ann@example.com'], ['example.net']);
  t.strictSame(blockedRecipients(rules, ['ann@example.com', 'x@example.net']), []);
  t.strictSame(
    blockedRecipients(rules, ['b@example.com', 'ann@example.com', 'c@example.org', 'b@example.com']),
    ['b@example.com', 'c@example.org'],
    'those that are not, each once, as given',
  );
  t.strictSame(blockedRecipients(policy([], []), ['ann@example.com']), ['ann@example.com']);
  t.strictSame(blockedRecipients(policy([], [], false), ['ann@example.com']), []);
});

t.test('sending: a domain does not allow its server to send on to another', async t => {
  const rules = policy(['a%b@example.net'], ['example.com']);
  const routed = [
    'ann%evil.example@example.com',
    'evil.example!ann@example.com',
    'a!b%c@Example.COM.',
    '%@example.com',
  ];
  t.strictSame(blockedRecipients(rules, routed), routed);
  t.strictSame(
    blockedRecipients(rules, ['a%b@example.net', 'ann@example.com']),
    [],
    'the very address is allowed',
  );
  for (const address of routed)
    t.equal(blocksSender(rules, [address]), true, 'a sender is of its domain all the same');
});

t.test('receiving: one mailbox that is named is enough, with no entries nobody is refused', async t => {
  const rules = policy(['ann@example.com'], ['example.net']);
  t.equal(blocksSender(rules, ['b@example.com', 'c@example.net']), true);
  t.equal(blocksSender(rules, ['b@example.com']), false);
  t.equal(blocksSender(rules, []), false, 'a message without From');
  t.equal(blocksSender(policy([], []), ['ann@example.com']), false);
  t.equal(blocksSender({ ...rules, enabled: false }, ['ann@example.com']), false);
});

const localPart = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,12}(\.[A-Za-z0-9+_-]{1,6})?$/),
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
    .map(text => `"${text.replace(/["\\]/g, '\\$&')}"`),
);
const domain = fc.oneof(
  fc.domain(),
  fc.constantFrom('bücher.example', 'ПРИМЕР.example', 'xn--bcher-kva.example', 'Example.COM', 'a_b.example'),
);
const address = fc.tuple(localPart, domain).map(([local, place]) => `${local}@${place}`);
const flipCase = (text: string) =>
  [...text].map(char => (char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase())).join('');

t.test('an entry that is saved is saved again unchanged, and names itself', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(address, written => {
        const saved = resultOf(() => normalisePolicyAddresses([written]));
        if (!saved.ok) return true;
        const [entry = ''] = saved.value;
        const again = normalisePolicyAddresses([entry]);
        const rules: AddressPolicy = { enabled: true, addresses: saved.value, domains: [] };
        return again[0] === entry && blocksSender(rules, [written]) && blocksSender(rules, [entry]);
      }),
      { numRuns: 2000 },
    ),
  );
});

t.test(
  'a domain names all of its addresses in any letter case, and what it names is not elsewhere',
  async t => {
    t.doesNotThrow(() =>
      fc.assert(
        fc.property(localPart, domain, domain, (local, named, other) => {
          const domains = normalisePolicyDomains([named]);
          const rules: AddressPolicy = { enabled: true, addresses: [], domains };
          const isSame = domains[0] === normalisePolicyDomains([other])[0];
          return (
            /^[\x21-\x7e]+$/.test(domains[0] ?? '') &&
            domains[0] === domains[0]?.toLowerCase() &&
            blocksSender(rules, [`${local}@${flipCase(named)}`]) &&
            !blocksSender(rules, [`${local}@sub.${named}`]) &&
            blocksSender(rules, [`${local}@${other}`]) === isSame
          );
        }),
        { numRuns: 1000 },
      ),
    );
  },
);

t.test('what sending blocks and what receiving refuses are the two sides of one match', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(
        fc.array(address, { maxLength: 4 }),
        fc.array(domain, { maxLength: 2 }),
        fc.array(address, { maxLength: 5 }),
        (addresses, domains, given) => {
          const saved = resultOf(() => normalisePolicyAddresses(addresses));
          const rules = {
            enabled: true,
            addresses: saved.ok ? saved.value : [],
            domains: normalisePolicyDomains(domains),
          };
          const blocked = blockedRecipients(rules, given);
          return given
            .filter(one => !isSourceRouted(one))
            .every(one => blocked.includes(one) === !blocksSender(rules, [one]));
        },
      ),
      { numRuns: 1000 },
    ),
  );
});
