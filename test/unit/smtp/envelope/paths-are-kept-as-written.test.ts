import fc from 'fast-check';
import t from 'tap';
import { parsePath } from '../../../../src/smtp/mail-command.js';

function path(text: string): [written: string, address: string] | null {
  const parsed = parsePath(text);
  return parsed === null ? null : [parsed.path.written, parsed.path.address];
}

t.test('letter case, UTF-8 and xn-- labels stay', async t => {
  for (const address of [
    'Agent+Tag@Example.ORG',
    'jos\u00e9@ex\u00e4mple.org',
    'a@xn--exmple-cua.org',
    "o'neil/x=1@a_b.example",
    'a@[192.0.2.1]',
    'a@[IPv6:2001:db8::1]',
  ]) {
    t.same(path(`<${address}>`), [address, address]);
  }
});

t.test('a source route goes (RFC 5321 appendix C)', async t => {
  t.same(path('<@relay.example,@b.example:agent@example.org>'), ['agent@example.org', 'agent@example.org']);
  t.equal(path('<@relay.example>'), null);
  t.equal(path('<@relay.example:>'), null);
});

t.test('quotes that are not needed make no other mailbox (section 4.1.2)', async t => {
  t.same(path('<"agent"@example.org>'), ['"agent"@example.org', 'agent@example.org']);
  t.same(path('<"a\\gent"@example.org>'), ['"a\\gent"@example.org', 'agent@example.org']);
  for (const quoted of [
    '"odd user"@example.org',
    '"a@b"@example.org',
    '""@example.org',
    '"a..b"@example.org',
    '"a\\"b"@example.org',
    '"a>b"@example.org',
  ]) {
    t.same(path(`<${quoted}>`), [quoted, quoted]);
  }
});

t.test('the null path and the postmaster without a domain', async t => {
  t.same(path('<>'), ['', '']);
  t.same(path('<PostMaster>'), ['PostMaster', 'PostMaster']);
  t.equal(path('<postmaste>'), null);
  t.equal(path('<po\u017ftmaster>'), null);
});

t.test('what is no path is refused', async t => {
  for (const text of [
    'agent@example.org',
    '<agent@example.org',
    '<agent@>',
    '<@example.org>',
    '<agent>',
    '<a b@example.org>',
    '<a@b@c.example>',
    '<a@b..example>',
    '<a@.example>',
    '<a@example.org.>',
    '<a@-b.example>',
    '<<a@example.org>>',
    '<a@example.org>x',
    '<a@exa\0mple.org>',
    '<a\u0007@example.org>',
    '<a\u200b@example.org>',
    '<a\ufffd@example.org>',
    '<"a@example.org>',
    `<${'a'.repeat(250)}@b.example>`,
  ]) {
    t.equal(parsePath(text), null, JSON.stringify(text));
  }
});

t.test('what follows a path is given back', async t => {
  t.equal(parsePath(' <a@example.org> SIZE=1')?.rest, ' SIZE=1');
});

t.test('any line is answered, and quickly forgotten', async t => {
  const part = fc.constantFrom(
    'a',
    '.',
    '@',
    '<',
    '>',
    '"',
    '\\',
    ' ',
    ':',
    ',',
    'example.org',
    '[',
    ']',
    '-',
    '\0',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 300 }), parts => {
      const parsed = parsePath(`<${parts.join('')}>`);
      if (parsed !== null && /[<>\s\0]/.test(parsed.path.written.replace(/"(?:[^"\\]|\\.)*"/, ''))) {
        throw new Error('let through');
      }
    }),
  );
  t.pass();
});
