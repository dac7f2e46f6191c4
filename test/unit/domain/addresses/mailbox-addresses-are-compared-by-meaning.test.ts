import t from 'tap';
import { toInboxAddress } from '../../../../src/domain/addresses.js';

const cases: [string, string, string | null][] = [
  ['plain', 'agent@example.org', 'agent@example.org'],
  ['letter case', 'AgEnT@EXAMPLE.Org', 'agent@example.org'],
  ['a tag', 'agent+shop@example.org', 'agent@example.org'],
  ['an empty tag', 'agent+@example.org', 'agent@example.org'],
  ['several tags', 'agent+a+b@example.org', 'agent@example.org'],
  ['a leading plus is no tag', '+agent@example.org', '+agent@example.org'],
  ['U-labels', 'agent@bücher.example', 'agent@xn--bcher-kva.example'],
  ['U-labels in capitals', 'agent@BÜCHER.example', 'agent@xn--bcher-kva.example'],
  ['A-labels', 'agent@XN--bcher-kva.example', 'agent@xn--bcher-kva.example'],
  ['the last @ counts', 'a@b@example.org', 'a@b@example.org'],
  ['no @', 'agent', null],
  ['no local part', '@example.org', null],
  ['no domain', 'agent@', null],
  ['a domain that is none', 'agent@exa mple.org', null],
  ['a domain with a path', 'agent@bücher.example/x', null],
  ['a domain with a port', 'agent@bücher.example:25', null],
  ['a domain with an escape', 'agent@ex%61mple.org', null],
];

for (const [name, given, expected] of cases) {
  t.test(name, async t => {
    const mailbox = toInboxAddress(given);
    t.equal(mailbox === null ? null : `${mailbox.localPart}@${mailbox.domain}`, expected);
  });
}
