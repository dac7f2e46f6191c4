import fc from 'fast-check';
import t from 'tap';
import { checkDomainName } from '../../../src/config/net-types.js';
import { loaded } from './load.js';

const isDomainName = (text: string) => checkDomainName(text).ok;
const label = fc.stringMatching(/^[a-z][a-z0-9]{0,9}(-[a-z0-9]{1,9})?$/);
const name = fc.array(label, { minLength: 1, maxLength: 5 }).map(labels => labels.join('.'));

t.test('labels of letters, digits and inner hyphens make a name, in any letter case', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(name, text => {
        const checked = checkDomainName(text.toUpperCase());
        return checked.ok && checked.value === text;
      }),
    ),
  );
});

t.test('one character that does not belong spoils a name', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(name, fc.constantFrom(...'_ @/:*!\u0000é。'), fc.nat(), (text, stranger, at) => {
        const i = at % (text.length + 1);
        return !isDomainName(text.slice(0, i) + stranger + text.slice(i));
      }),
    ),
  );
});

t.test('lengths, hyphens and dots at their limits', async t => {
  const l63 = 'a'.repeat(63);
  const longest = [l63, l63, l63, 'a'.repeat(61)].join('.');
  t.equal(longest.length, 253);
  for (const right of ['a', l63, longest, 'a-b.c', '1.example', 'xn--bcher-kva.example', 'localhost']) {
    t.ok(isDomainName(right), right);
  }
  const wrong = ['', '.', '.a', 'a.', 'a..b', `${l63}a`, `${longest}a`, '-a', 'a-', 'a.-b', '1.2.3.4', 'a.1'];
  for (const text of wrong) t.notOk(isDomainName(text), text);
});

t.test('a label that looks like punycode must be punycode', async t => {
  for (const text of ['xn--.example', 'xn--a.example', 'ab--cd.example', 'xn--99999999.example']) {
    t.notOk(isDomainName(text), text);
  }
});

t.test('a trial may use localhost as its mail domain', async t => {
  t.same(loaded({ toml: '[mail]\ndomains = ["localhost"]\n' }).mail.domains, ['localhost']);
});
