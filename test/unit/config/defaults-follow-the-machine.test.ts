import t from 'tap';
import { FACTS, loaded, MINIMUM, problemsOf } from './load.js';

t.test('the host name of the system greets', async t => {
  const config = loaded({ toml: MINIMUM, facts: { ...FACTS, hostname: 'MX.Example.com' } });
  t.equal(config.mail.hostname, 'mx.example.com');
});

t.test('a host name that cannot greet asks for one that can', async t => {
  t.same(problemsOf({ toml: MINIMUM, facts: { ...FACTS, hostname: 'my_box' } }), [
    'mail.hostname: the default (the system\'s host name), "my_box", may hold only letters, digits, hyphens inside a label, and dots. ' +
      'Set it in [mail], as in hostname = "mail.example.com", or with POSTERN_MAIL_HOSTNAME.',
  ]);
  t.same(
    problemsOf({ toml: `${MINIMUM}hostname = "mx.example.com"\n`, facts: { ...FACTS, hostname: 'my_box' } }),
    [],
  );
});

t.test('mail arrives at every address, with IPv6 where there is IPv6', async t => {
  t.equal(loaded({ toml: MINIMUM }).smtp.host, '::');
  t.equal(loaded({ toml: MINIMUM, facts: { ...FACTS, hasIpv6: false } }).smtp.host, '0.0.0.0');
});

t.test('a core is left for the main loop, and there is a worker even on one core', async t => {
  t.equal(loaded({ toml: MINIMUM }).parse.workers, 3);
  t.equal(loaded({ toml: `${MINIMUM}[parse]\nworkers = 0\n` }).parse.workers, 3);
  t.equal(loaded({ toml: MINIMUM, env: { POSTERN_PARSE_WORKERS: '0' } }).parse.workers, 3);
  t.equal(loaded({ toml: MINIMUM, facts: { ...FACTS, cores: 1 } }).parse.workers, 1);
  t.equal(loaded({ toml: MINIMUM, facts: { ...FACTS, cores: 256 } }).parse.workers, 64);
});

t.test('the policy page is ours unless another is named', async t => {
  const env = { POSTERN_SERVICE_PUBLIC_URL: 'https://Mail.Example.com/box' };
  t.equal(loaded({ toml: MINIMUM, env }).service.policyUrl, 'https://mail.example.com/box/policy');
  const toml = `${MINIMUM}[service]\npolicy_url = "https://example.com/rules"\n`;
  t.equal(loaded({ toml, env }).service.policyUrl, 'https://example.com/rules');
});
