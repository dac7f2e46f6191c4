import t from 'tap';
import { coversHost, parseStsPolicy, stsIdOf } from '../../../../src/domain/mta-sts.js';

const POLICY =
  'version: STSv1\r\nmode: enforce\r\nmx: mail.Example.com\r\nmx: *.example.net\r\nmax_age: 604800\r\n';

t.test('a policy of RFC 8461', async t => {
  const policy = { mode: 'enforce', mx: ['mail.example.com', '*.example.net'], maxAgeS: 604800 };
  t.same(parseStsPolicy(POLICY), policy);
  t.same(
    parseStsPolicy(POLICY.replaceAll('\r\n', '\n').trimEnd()),
    policy,
    'line ends alone, none at the end',
  );
  t.same(parseStsPolicy(`${POLICY}later: field\n\nmode: none\n`), policy, 'what is new or comes twice');
  t.same(parseStsPolicy('version: STSv1\nmode: none\nmax_age: 0\n'), { mode: 'none', mx: [], maxAgeS: 0 });
  t.equal(parseStsPolicy(POLICY.replace('604800', '9999999999'))?.maxAgeS, 31_557_600, 'a year at most');
});

t.test('whatever else is there is no policy', async t => {
  const many = 'mx: a.example.com\n'.repeat(201);
  for (const text of [
    '',
    '<html>',
    POLICY.replace('STSv1', 'STSv2'),
    POLICY.replace('enforce', 'strict'),
    POLICY.replace('max_age: 604800', ''),
    POLICY.replace('604800', '-1'),
    POLICY.replace('604800', '12345678901'),
    POLICY.replace(/mx:.*\r\n/g, ''),
    POLICY.replace('*.example.net', '*.*.example.net'),
    POLICY.replace('*.example.net', 'mail*.example.net'),
    POLICY + many,
  ]) {
    t.equal(parseStsPolicy(text), null, text.slice(0, 80));
  }
});

t.test('a star stands for one label', async t => {
  const policy = { mx: ['mail.example.com', '*.example.net'] };
  for (const host of ['mail.example.com', 'mx.example.net', '1.example.net'])
    t.ok(coversHost(policy, host), host);
  for (const host of [
    'example.net',
    'a.b.example.net',
    'mail.example.com.evil.test',
    'notexample.net',
    'x.mail.example.com',
  ]) {
    t.notOk(coversHost(policy, host), host);
  }
});

t.test('one TXT record announces a policy', async t => {
  t.equal(stsIdOf(['v=STSv1; id=20160831085700Z;']), '20160831085700Z');
  t.equal(stsIdOf(['something else', 'v=STSv1;id=1']), '1');
  t.equal(stsIdOf(['v=STSv1; id=1;', 'v=STSv1; id=2;']), null, 'two announce none');
  for (const text of [
    'v=STSv2; id=1;',
    'v=STSv1',
    'v=STSv1; id=;',
    `v=STSv1; id=${'1'.repeat(33)}`,
    'v=STSv1; id=a b;',
  ]) {
    t.equal(stsIdOf([text]), null, text);
  }
});
