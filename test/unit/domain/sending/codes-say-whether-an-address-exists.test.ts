import t from 'tap';
import {
  enhancedCodeIn,
  isEnhancedCode,
  saysNoSuchAddress,
} from '../../../../src/domain/delivery-reports.js';

t.test('four codes say that there is no such address; no other does', async t => {
  for (const code of ['5.1.1', '5.1.2', '5.1.3', '5.1.10']) t.ok(saysNoSuchAddress(code), code);
  for (const code of [
    '5.1.0',
    '5.1.6',
    '5.1.8',
    '5.1.100',
    '4.1.1',
    '5.2.1',
    '5.2.2',
    '5.3.4',
    '5.4.4',
    '5.7.1',
    '',
  ])
    t.notOk(saysNoSuchAddress(code), code);
});

t.test('a code is found among other words, and nothing else is taken for one', async t => {
  for (const [reply, code] of [
    ['550 5.1.1 nobody', '5.1.1'],
    ['550-5.1.1 no\n550 5.1.1 one', '5.1.1'],
    ['sorry (#5.1.10)', '5.1.10'],
    ['5.7.1', '5.7.1'],
    ['550 <a@b>: 4.2.2 full', '4.2.2'],
  ] as const)
    t.equal(enhancedCodeIn(reply), code, reply);
  for (const reply of [
    '550 no',
    'host 5.1.1.7 said',
    'version 15.1.1',
    '550 5.1.1234',
    '3.1.1',
    'v5.1.1',
    '',
  ])
    t.equal(enhancedCodeIn(reply), null, reply);
  t.ok(isEnhancedCode('5.1.10'));
  t.notOk(isEnhancedCode('5.1.10 '));
});
