import t from 'tap';
import { isEmailAddress } from '../../../../src/domain/addresses.js';

const label = 'd'.repeat(63);

t.test('dot-atoms before the @, letters, digits and hyphens after it', async t => {
  const good = [
    'a@b',
    'first.last@example.org',
    "!#$%&'*+/=?^_`{|}~-@example.org",
    'a@1.2',
    `${'l'.repeat(64)}@example.org`,
    `a@${label}.example`,
    `a@${label}.${label}.${label}.${'d'.repeat(60)}`,
  ];
  for (const address of good) t.ok(isEmailAddress(address), address);
});

t.test('whatever could be read in two ways is refused', async t => {
  const bad = [
    '',
    'a',
    '@b',
    'a@',
    'a@@b',
    'a@b@c',
    '.a@b',
    'a.@b',
    'a..b@c',
    'a b@c',
    '"a"@b',
    'a@[127.0.0.1]',
    'a@-b',
    'a@b-',
    'a@b..c',
    'a@.b',
    'a@b.',
    'a@b_c',
    'é@b',
    'a@é',
    'a@b\r\nRCPT TO:<x@y>',
    'a@b\n',
    'Name <a@b>',
    'a@b,c@d',
    `${'l'.repeat(65)}@example.org`,
    `a@${'d'.repeat(64)}.example`,
    `a@${label}.${label}.${label}.${'d'.repeat(61)}`,
  ];
  for (const address of bad) t.notOk(isEmailAddress(address), JSON.stringify(address));
});
