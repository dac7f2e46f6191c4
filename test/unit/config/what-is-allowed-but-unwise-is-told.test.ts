import t from 'tap';
import { configWarnings } from '../../../src/config/config-warnings.js';
import { type Given, loaded, MINIMUM } from './load.js';

const warningsOf = (given: Given) => configWarnings(loaded(given)).map(({ where }) => where);

t.test('nothing of the smallest configuration', async t => {
  t.same(warningsOf({ toml: MINIMUM }), []);
});

t.test('a mail domain among the domains of signup, which is ignored', async t => {
  const signup = '[signup]\npolicy = "domains"\ndomains = ["guests.example", "Agents.Example.com"]\n';
  const [warning] = configWarnings(loaded({ toml: MINIMUM + signup }));
  t.equal(warning?.where, 'signup.domains');
  t.match(warning?.what, /^agents\.example\.com is ignored/);
  t.same(warningsOf({ toml: `${MINIMUM}[signup]\ndomains = ["agents.example.com"]\n` }), [], 'while closed');
  const oidc = '[signup.oidc]\nissuer = "https://login.example.com"\nclient_id = "p"\n';
  t.same(warningsOf({ toml: MINIMUM + signup + oidc }), ['signup.domains']);
  t.same(warningsOf({ toml: `${MINIMUM}${signup}${oidc}own_domains = true\n` }), [], 'where sign-ins count');
});

t.test('a public URL without TLS that is not this machine', async t => {
  const at = (url: string) => ({ toml: MINIMUM, env: { POSTERN_SERVICE_PUBLIC_URL: url } });
  t.same(warningsOf(at('http://mail.example.com')), ['service.public_url']);
  t.same(warningsOf(at('https://mail.example.com')), []);
  t.same(warningsOf(at('http://127.0.0.1:8025')), []);
});
