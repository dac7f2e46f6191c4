import t from 'tap';
import { checkSpf } from '../../../../src/mail/authenticate/spf.js';
import type { ZoneEntry } from '../../../support/dns/dns-server.js';
import { readVectors } from '../../../vectors/read-vectors.js';
import { startLookups } from './with-lookups.js';

interface Scenario {
  readonly scenario: string;
  readonly zones: Readonly<Record<string, ZoneEntry & { readonly fault?: 'timeout' }>>;
  readonly tests: readonly {
    readonly name: string;
    readonly helo: string;
    readonly host: string;
    readonly mailfrom: string;
    readonly result: readonly string[];
  }[];
}

const scenarios = JSON.parse(readVectors('spf/openspf-rfc7208.json').toString()) as Scenario[];

/** Where mailauth answers otherwise. It never says "pass" there. */
const OTHERWISE: Readonly<Record<string, string>> = {
  // Our look-ups know letters, digits, hyphens and underscores in names, as all hosts have.
  'a-colon-domain': 'neutral',
  'a-colon-domain-ip4mapped': 'neutral',
  'mx-colon-domain': 'neutral',
  'mx-colon-domain-ip4mapped': 'neutral',
  'macro-mania-in-domain': 'fail',
  // Faults that stand behind what has matched already, or in explanations, which nobody asks for.
  'bare-ip6': 'fail',
  'exp-syntax-error': 'neutral',
  'exp-twice': 'fail',
  'exp-only-macro-char': 'fail',
  // The macro "p", which RFC 7208 section 7.2 asks not to use.
  'p-macro-multiple': 'neutral',
  // Names that cannot be, made of a HELO that is none: no match, or an error.
  'invalid-hello-macro': 'permerror',
  'hello-domain-literal': 'permerror',
  'require-valid-helo': 'permerror',
};

t.notOk(Object.values(OTHERWISE).includes('pass'), 'no false pass');

for (const { scenario, zones, tests } of scenarios) {
  t.test(scenario, async t => {
    const entries = Object.entries(zones).map(([name, entry]) => [
      name,
      entry.fault === 'timeout' ? { ...entry, fault: 'silent' } : entry,
    ]);
    const { resolve } = await startLookups(t, Object.fromEntries(entries), 60);
    for (const { name, helo, host, mailfrom, result } of tests) {
      const found = await checkSpf({ clientAddress: host, helo, sender: mailfrom }, resolve);
      const wanted = OTHERWISE[name] === undefined ? result : [OTHERWISE[name]];
      t.ok(wanted.includes(found.result), `${name}: ${found.result}, wanted ${wanted.join(' or ')}`);
    }
  });
}
