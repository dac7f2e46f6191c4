import t from 'tap';
import { isInDomains, isSourceRouted, mayReachDomains } from '../../../../src/domain/addresses.js';

const OURS = ['agents.example.com', 'xn--bcher-kva.example', 'localhost'];

t.test('letter case, tags, U-labels and a dot at the end do not hide a domain', async t => {
  for (const [address, isOurs] of [
    ['a@agents.example.com', true],
    ['A+b@AGENTS.Example.com', true],
    ['a@agents.example.com.', true],
    ['a@bücher.example', true],
    ['a@BÜCHER.example.', true],
    ['a@XN--BCHER-KVA.example', true],
    ['a@agents\u3002example.com', true],
    ['a@localhost', true],
    ['"a@elsewhere.example"@agents.example.com', true],
    ['a@sub.agents.example.com', false],
    ['a@example.com', false],
    ['a@notagents.example.com', false],
    ['a@agents.example.com@elsewhere.example', false],
    ['agents.example.com', false],
    ['', false],
  ] as const) {
    t.equal(isInDomains(address, OURS), isOurs, address);
  }
});

t.test('a local part that names another host is told', async t => {
  for (const [address, isRouted] of [
    ['a%b.example@c.example', true],
    ['b.example!a@c.example', true],
    ['a!b%c@d.example', true],
    ['a@c.example', false],
    ['a+b=c.example@d.example', false],
    ['a', false],
    ['a%b', false],
  ] as const) {
    t.equal(isSourceRouted(address), isRouted, address);
  }
});

t.test('and reaches our domains if it names one', async t => {
  for (const [address, reaches] of [
    ['a@Agents.example.com', true],
    ['a%AGENTS.example.com@relay.example', true],
    ['agents.example.com!a@relay.example', true],
    ['a%agents.example.com%relay2.example@relay.example', true],
    ['a%b.example@relay.example', false],
    ['agents.example.com@relay.example', false],
    ["a'&=b{|}~/*!#$%@new.example", false],
  ] as const) {
    t.equal(mayReachDomains(address, OURS), reaches, address);
  }
});
