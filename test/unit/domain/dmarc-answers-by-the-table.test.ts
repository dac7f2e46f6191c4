import t from 'tap';
import { evaluateDmarc, isAligned, readDmarcRecord } from '../../../src/domain/dmarc.js';
import { organisationalDomain } from '../../../src/mail/authenticate/organisational-domain.js';

t.test('alignment (RFC 7489 section 3.1 and appendix B.1)', async t => {
  // Domain, From, relaxed, strict.
  for (const [domain, from, relaxed, strict] of [
    ['example.com', 'example.com', true, true],
    ['child.example.com', 'example.com', true, false],
    ['example.com', 'child.example.com', true, false],
    ['news.example.com', 'mail.example.com', true, false],
    ['example.net', 'example.com', false, false],
    ['example.com.evil.example', 'example.com', false, false],
    ['notexample.com', 'example.com', false, false],
    ['com', 'example.com', false, false],
    ['a.co.uk', 'b.co.uk', false, false],
    ['x.a.co.uk', 'a.co.uk', true, false],
    ['one.github.io', 'two.github.io', false, false],
    ['co.uk', 'co.uk', true, true],
    ['a.b.c.d.example.com', 'example.com', true, false],
    ['xn--bcher-kva.example', 'www.xn--bcher-kva.example', true, false],
    ['localhost', 'localhost', true, true],
    ['_x.example.com', 'example.com', true, false],
  ] as const) {
    const aligned = (isStrict: boolean) => isAligned(domain, from, isStrict, organisationalDomain);
    t.same([aligned(false), aligned(true)], [relaxed, strict], `${domain} for ${from}`);
  }
});

t.test('records (RFC 7489 sections 6.3 and 6.6.3)', async t => {
  for (const [texts, isOfSubdomain, found] of [
    [[], false, 'absent'],
    [['v=spf1 -all'], false, 'absent'],
    [['v=DMARC1; p=reject'], false, 'reject'],
    [['v=DMARC1;p=quarantine;'], false, 'quarantine'],
    [['v = DMARC1 ; p = none'], false, 'none'],
    [['v=DMARC1; p=REJECT'], false, 'reject'],
    [['v=DMARC1; p=none; sp=reject'], false, 'none'],
    [['v=DMARC1; p=none; sp=reject'], true, 'reject'],
    [['v=DMARC1; p=reject'], true, 'reject'],
    [['v=DMARC1; p=what; rua=mailto:a@b.example'], false, 'none'],
    [['v=DMARC1; p=what'], false, 'unusable'],
    [['v=DMARC1'], false, 'unusable'],
    [['v=DMARC1; p=none; p=reject'], false, 'unusable'],
    [['v=DMARC1; p=none', 'v=DMARC1; p=reject'], false, 'unusable'],
    [['v=spf1 -all', 'v=DMARC1; p=reject'], false, 'reject'],
    [['v=DMARC10; p=reject'], false, 'absent'],
    [['p=reject; v=DMARC1'], false, 'absent'],
    // Section 6.6.4: for a part of the mail, and on trial, the next milder one.
    [['v=DMARC1; p=reject; pct=100'], false, 'reject'],
    [['v=DMARC1; p=reject; pct=99'], false, 'quarantine'],
    [['v=DMARC1; p=reject; pct=0'], false, 'quarantine'],
    [['v=DMARC1; p=reject; pct=often'], false, 'reject'],
    [['v=DMARC1; p=reject; sp=quarantine; pct=50'], true, 'none'],
    [['v=DMARC1; p=none; pct=5'], false, 'none'],
    [['v=DMARC1; p=reject; t=y'], false, 'quarantine'],
    [['v=DMARC1; p=reject; t=n'], false, 'reject'],
  ] as const) {
    const read = readDmarcRecord(texts, isOfSubdomain);
    t.equal(read.kind === 'record' ? read.record.policy : read.kind, found, texts.join(' | '));
  }
});

t.test('the answer: what passes and is aligned decides, and what is open leaves it open', async t => {
  const record = readDmarcRecord(['v=DMARC1; p=reject'], false);
  const on = (result: 'pass' | 'fail' | 'temperror', aligned: boolean) => ({ result, aligned });
  for (const [spf, dkim, answer] of [
    [on('pass', true), [], 'pass'],
    [on('pass', false), [], 'fail'],
    [on('fail', true), [on('pass', true)], 'pass'],
    [on('fail', true), [on('pass', false)], 'fail'],
    [on('fail', true), [on('fail', true), on('pass', true)], 'pass'],
    [on('temperror', true), [], 'temperror'],
    [on('temperror', true), [on('pass', true)], 'pass'],
    [on('temperror', false), [on('fail', true)], 'fail'],
    [on('fail', true), [on('temperror', true)], 'temperror'],
    [on('fail', true), [on('temperror', false)], 'fail'],
  ] as const) {
    t.equal(evaluateDmarc(record, spf, dkim).result, answer, JSON.stringify([spf, dkim]));
  }
  const passes = [on('pass', true)];
  t.match(evaluateDmarc({ kind: 'absent' }, on('fail', true), passes), {
    result: 'none',
    aligned_by: ['dkim'],
  });
  t.match(evaluateDmarc({ kind: 'unreachable' }, on('pass', true), passes), { result: 'temperror' });
});
