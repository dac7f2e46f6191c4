import t from 'tap';
import { MINIMUM, problemsOf } from './load.js';

/** Key, value in TOML, and what the message must say. */
const inFile: readonly (readonly [string, string, string])[] = [
  ['service.name', '25', '25 is not text in quotes. Give a text: 1 to 64 characters on one line.'],
  ['service.name', '" "', '" " is empty. Give a text'],
  ['service.name', '"a\\nb"', '"a\\nb" has a line break or another control character.'],
  ['service.name', `"${'x'.repeat(65)}"`, 'is longer than 64 characters.'],
  ['smtp.max_clients', '"10"', '"10" is not a whole number. Give an integer: 1 to 100000.'],
  ['smtp.max_clients', '1.5', '1.5 is not a whole number.'],
  ['smtp.max_clients', '0', '0 is below 1.'],
  ['smtp.max_clients', '99999999999999999999', '99999999999999999999 is above 100000.'],
  ['smtp.max_clients', 'true', 'true is not a whole number.'],
  [
    'store.map_size_gib',
    '0.01',
    '0.01 is below 0.03125. Give a number: 0.03125 to 65536, fractions allowed.',
  ],
  ['store.map_size_gib', 'inf', 'Infinity is not a number.'],
  ['store.map_size_gib', 'nan', 'NaN is not a number.'],
  [
    'redis.mode',
    '"manged"',
    '"manged" is not one of the allowed words. Give a word: one of "managed", "external".',
  ],
  ['store.path', '""', 'is empty. Give a path.'],
  ['store.path', '["/x"]', 'a list is not a path in quotes.'],
  [
    'smtp.port',
    '70000',
    '70000 is not between 0 and 65535. Give a port: 1 to 65535, or 0 for any free port.',
  ],
  ['smtp.port', '-1', '-1 is not between 0 and 65535.'],
  ['http.trusted_proxies', '["proxy"]', 'that is not an IP address or network.'],
  ['http.trusted_proxies', '["10.0.0.0/33"]', 'that has no valid prefix length.'],
  ['http.trusted_proxies', '["::/129"]', 'that has no valid prefix length.'],
  ['http.trusted_proxies', '["10.0.0.0/8/8"]', 'that is not an IP address or network.'],
  ['signup.oidc.issuer', '"http://login.example.com"', 'is not https, and its host is not this machine.'],
  ['signup.oidc.issuer', '"https://login.example.com?x=1"', 'has a query or a fragment.'],
  ['http.host', '"[::1]"', '"[::1]" has brackets. Write "::1".'],
  ['http.host', '"127.0.0.256"', '"127.0.0.256" ends in a number, like an IP address.'],
  [
    'http.host',
    '"*"',
    '"*" may hold only letters, digits, hyphens inside a label, and dots. Give a host: an IP address or a host name.',
  ],
  ['mail.hostname', '"mail.example.com."', '"mail.example.com." ends with a dot. Write "mail.example.com".'],
  [
    'mail.hostname',
    '"bücher.example"',
    '"bücher.example" has characters outside ASCII. Write "xn--bcher-kva.example".',
  ],
  ['mail.postmaster_inbox', '"operator"', '"operator" has no @. Give an address: local-part@domain.'],
  ['mail.postmaster_inbox', '"-@agents.example.com"', 'has a local part that is not 1 to 64 letters'],
  ['mail.postmaster_inbox', '"op@a..b"', 'has a domain that has an empty label'],
  [
    'mail.reserved_local_parts',
    '"ceo"',
    '"ceo" is not a list in brackets. Give a list of local parts: no duplicates;',
  ],
  ['mail.reserved_local_parts', '["CEO", "ceo"]', 'a list names "ceo" twice.'],
  ['mail.reserved_local_parts', '["a b"]', 'a list has an item, "a b", that is not 1 to 64 letters'],
  ['mail.reserved_local_parts', '[1]', 'a list has an item, 1, that is not a local part in quotes.'],
  ['service.public_url', '"example.com"', '"example.com" is not a complete URL. Give a URL: http or https,'],
  ['service.public_url', '"ftp://example.com"', 'does not start with http:// or https://.'],
  ['service.public_url', '"https://example.com/"', 'has a trailing slash. Write "https://example.com".'],
  [
    'service.public_url',
    '"https://example.com/x?y=1"',
    'has a query or a fragment. Write "https://example.com/x".',
  ],
  ['service.public_url', '"https://example.com?"', 'has a query or a fragment. Write "https://example.com".'],
  ['service.policy_url', '1979-05-27', 'a date is not a URL in quotes.'],
  ['service.policy_url', '{ a = 1 }', 'a table is not a URL in quotes.'],
  ['redis.url', '"http://example.com"', 'the value (not shown) does not start with redis:// or rediss://.'],
  ['redis.url', '"redis:///0"', 'the value (not shown) names no host.'],
  [
    'redis.url',
    '"redis://example.com/zero"',
    'the value (not shown) has a path that is not a database number.',
  ],
];

for (const [id, value, expected] of inFile) {
  t.test(`${id} = ${value}`, async t => {
    const section = id.slice(0, id.lastIndexOf('.'));
    const name = id.slice(section.length + 1);
    const toml =
      section === 'mail' ? `${MINIMUM}${name} = ${value}\n` : `${MINIMUM}[${section}]\n${name} = ${value}\n`;
    const [problem = 'no problem', ...others] = problemsOf({ toml });
    t.ok(problem.startsWith(`postern.toml: ${id}: `), problem);
    t.ok(problem.includes(expected), `${problem} says: ${expected}`);
    t.same(others, []);
  });
}

const inEnvironment: readonly (readonly [string, string, string])[] = [
  ['POSTERN_SMTP_PORT', 'smtp', '"smtp" is not a whole number. Give a port'],
  ['POSTERN_SMTP_PORT', '', 'is empty. Give a port'],
  ['POSTERN_SMTP_MAX_CLIENTS', '1e3', '"1e3" is not a whole number.'],
  ['POSTERN_STORE_MAP_SIZE_GIB', '1 GiB', '"1 GiB" is not a number.'],
  ['POSTERN_LOG_LEVEL', 'INFO', '"INFO" is not one of the allowed words.'],
  ['POSTERN_MAIL_DOMAINS', '', 'is empty. Give a list of mail domains: at least 1;'],
  ['POSTERN_MAIL_DOMAINS', 'a.example.com,', '"a.example.com," has an item, "", that is empty.'],
  ['POSTERN_MAIL_DOMAINS', 'example', 'that is a single label; mail needs a full domain name.'],
];

for (const [variable, value, expected] of inEnvironment) {
  t.test(`${variable}=${value}`, async t => {
    const [problem = 'no problem', ...others] = problemsOf({ toml: MINIMUM, env: { [variable]: value } });
    t.ok(problem.startsWith(`${variable}: `), problem);
    t.ok(problem.includes(expected), `${problem} says: ${expected}`);
    t.same(others, []);
  });
}

t.test('a long value is cut', async t => {
  const [problem] = problemsOf({ toml: `${MINIMUM}hostname = "${'x'.repeat(300)}"\n` });
  t.match(problem, `"${'x'.repeat(80)}…" is longer than 253 characters.`);
});
