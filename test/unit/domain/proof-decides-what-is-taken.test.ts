import t from 'tap';
import { toSenders } from '../../../src/domain/address-policy.js';
import type {
  ArcCheck,
  Authentication,
  DmarcCheck,
  DmarcPolicy,
} from '../../../src/domain/authentication.js';
import { admitsSender, isRefusedByItsDomain, proofOf } from '../../../src/domain/author-rules.js';
import { type Author, concludeAuthentication, unknownAuthentication } from '../../../src/domain/verdict.js';

const NOTHING: Authentication = {
  ...unknownAuthentication('-'),
  from_domain: 'bank.example',
  spf: { result: 'none', domain: null, aligned: false },
  iprev: { result: 'none', name: null },
};

function found(
  verdict: Authentication['verdict'],
  rest: { dmarc?: Partial<DmarcCheck>; arc?: Partial<ArcCheck> } & Partial<
    Pick<Authentication, 'spf' | 'dkim'>
  > = {},
): Authentication {
  const { dmarc, arc, ...others } = rest;
  const result = verdict === 'unknown' ? 'temperror' : verdict;
  return {
    ...NOTHING,
    ...others,
    verdict,
    dmarc: { ...NOTHING.dmarc, result, ...dmarc },
    arc: { ...NOTHING.arc, ...arc },
  };
}

const signed = (result: 'pass' | 'fail' | 'temperror', aligned: boolean) => [
  { domain: 'bank.example', selector: 's', algorithm: 'rsa-sha256', result, aligned },
];

t.test('an author is proven by DMARC, or by what would be aligned where no policy is', async t => {
  t.equal(proofOf(found('pass')), 'proven');
  t.equal(proofOf(found('fail')), 'unproven');
  t.equal(proofOf(found('unknown')), 'later');
  t.equal(proofOf(found('none')), 'unproven');
  t.equal(proofOf(found('none', { dmarc: { aligned_by: ['spf'] } })), 'proven');
  t.equal(proofOf(found('none', { dmarc: { aligned_by: ['dkim'] } })), 'proven');
  // Passes, and for somebody else.
  t.equal(proofOf(found('none', { dkim: signed('pass', false) })), 'unproven');
  t.equal(
    proofOf(found('none', { spf: { result: 'pass', domain: 'other.example', aligned: false } })),
    'unproven',
  );
  t.equal(proofOf(found('fail', { arc: { result: 'pass', trusted: true, dmarc: 'pass' } })), 'unproven');
});

t.test('what could not be looked up is asked for again, where it might have been the proof', async t => {
  t.equal(proofOf(found('none', { dkim: signed('temperror', true) })), 'later');
  t.equal(proofOf(found('none', { dkim: signed('temperror', false) })), 'unproven');
  const spf = { result: 'temperror', domain: 'bank.example', aligned: false } as const;
  t.equal(proofOf(found('none', { spf })), 'later');
  t.equal(proofOf(found('none', { spf, dmarc: { aligned_by: ['dkim'] } })), 'proven');
});

t.test('a domain has refused what fails under p=reject, and nothing else', async t => {
  for (const verdict of ['pass', 'fail', 'none', 'unknown'] as const) {
    for (const policy of ['reject', 'quarantine', 'none', null] as const) {
      const isRefused = isRefusedByItsDomain(found(verdict, { dmarc: { policy } }), []);
      t.equal(isRefused, verdict === 'fail' && policy === 'reject', `${verdict}, p=${policy}`);
    }
  }
});

t.test('nor does it help to name several authors', async t => {
  const several = (policy: DmarcCheck['policy']) =>
    isRefusedByItsDomain(found('fail', { dmarc: { result: 'permerror', policy } }), []);
  t.equal(several('reject'), true);
  t.equal(several('quarantine'), false);
  t.equal(several(null), false);
});

t.test('of several authors, the strictest policy of those that fail counts', async t => {
  const policyOf = (...named: [string, DmarcPolicy | 'unreachable'][]) => {
    const author: Author = { fault: 'several', claimed: named.map(([domain]) => domain) };
    const records = named.map(([domain, policy]) => ({
      domain,
      record:
        policy === 'unreachable'
          ? { kind: policy }
          : ({ kind: 'record', record: { policy, isDkimStrict: false, isSpfStrict: false } } as const),
    }));
    const dkim = [
      { domain: 'signed.example', selector: 's', algorithm: 'rsa-sha256', result: 'pass' } as const,
    ];
    const findings = { spf: NOTHING.spf, dkim, arc: NOTHING.arc, iprev: NOTHING.iprev, records };
    const { verdict, dmarc } = concludeAuthentication(author, findings, domain => domain);
    t.match({ verdict, dmarc }, { verdict: 'fail', dmarc: { result: 'permerror', aligned_by: [] } });
    return dmarc.policy;
  };
  t.equal(policyOf(['a.example', 'none'], ['b.example', 'reject']), 'reject');
  t.equal(policyOf(['a.example', 'quarantine'], ['b.example', 'none']), 'quarantine');
  t.equal(policyOf(['a.example', 'none'], ['signed.example', 'reject']), 'none', 'that one has signed');
  t.equal(policyOf(['a.example', 'unreachable']), null);
  t.equal(policyOf(), null);
});

t.test('a chain spares a message if it is trusted and tells of a pass', async t => {
  const refused = (arc: Partial<ArcCheck>, trusted: readonly string[] = ['lists.example']) =>
    isRefusedByItsDomain(found('fail', { dmarc: { policy: 'reject' }, arc }), trusted);
  const chain = { result: 'pass', sealer: 'lists.example', trusted: true, dmarc: 'pass' } as const;
  t.equal(refused(chain), false);
  t.equal(refused({ ...chain, trusted: false }), true, 'passes, sealed by anybody');
  t.equal(refused({ ...chain, dmarc: 'fail' }), true, 'trusted, and it failed there too');
  t.equal(refused({ ...chain, dmarc: null }), true, 'trusted, and says nothing');
  t.equal(refused({ ...chain, result: 'fail', trusted: false }), true);
  const untold = { ...chain, result: 'temperror', trusted: false } as const;
  t.equal(refused(untold), false, 'the key of a sealer we trust cannot be looked up');
  t.equal(refused({ ...untold, dmarc: 'fail' }), true);
  t.equal(refused({ ...untold, sealer: 'anybody.example' }), true, 'that of another could');
});

t.test('a requirement without lists admits everybody, with lists whom they name', async t => {
  const boss = toSenders(['Boss@Bank.example']);
  t.equal(admitsSender({ addresses: [], domains: [] }, boss), true);
  t.equal(admitsSender({ addresses: ['Boss@bank.example'], domains: [] }, boss), true);
  t.equal(admitsSender({ addresses: ['clerk@bank.example'], domains: [] }, boss), false);
  t.equal(admitsSender({ addresses: ['clerk@bank.example'], domains: ['bank.example'] }, boss), true);
  t.equal(admitsSender({ addresses: [], domains: ['bank.example'] }, toSenders([])), false);
});
