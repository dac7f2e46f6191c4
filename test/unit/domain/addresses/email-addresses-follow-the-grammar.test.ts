import t from 'tap';
import { isEmailAddress, toSendableAddress } from '../../../../src/domain/addresses.js';

const label = 'd'.repeat(63);

t.test('atoms and dots before the @, letters, digits, hyphens and underscores after it', async t => {
  const good = [
    'a@b',
    'first.last@example.org',
    "!#$%&'*+/=?^_`{|}~-@example.org",
    'a@1.2',
    '.a@b',
    'a.@b',
    'a..b@c',
    'a@b_c',
    'a@_b._c',
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
    'a b@c',
    '"a"@b',
    'a@[127.0.0.1]',
    'a@-b',
    'a@b-',
    'a@b..c',
    'a@.b',
    'a@b.',
    'é@b',
    '\u212aelvin@b',
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

t.test('an address of a header gets the form in which mail can be sent to it', async t => {
  const sendable = [
    ['Ann@Example.org', 'Ann@Example.org'],
    ['ann@bücher.example', 'ann@xn--bcher-kva.example'],
    ['ann@BÜCHER.example', 'ann@xn--bcher-kva.example'],
    ['ann@почта.рф', 'ann@xn--80a1acny.xn--p1ai'],
    ['a..b@docomo.example', 'a..b@docomo.example'],
    ['"a..b"@docomo.example', 'a..b@docomo.example'],
    ['"abc."@bücher.example', 'abc.@xn--bcher-kva.example'],
    ['a@mail_host.example', 'a@mail_host.example'],
  ];
  for (const [written = '', right] of sendable) t.equal(toSendableAddress(written), right, written);
  const unsendable = [
    '"a b"@c',
    '"a\\"b"@c',
    '"a@b"@c',
    'a@[192.0.2.1]',
    'a@b@c',
    'jörg@a.example',
    '\u212aelvin@b',
    'a@a.example\r\nx',
    'a@a example',
    'a@',
    '@b',
    'a',
    '',
    `${'l'.repeat(65)}@b`,
    `"${'l'.repeat(65)}"@b`,
    `a@${'ü'.repeat(63)}.example`,
  ];
  for (const written of unsendable) t.equal(toSendableAddress(written), null, JSON.stringify(written));
});
