import t from 'tap';
import { loaded, MINIMUM, problemsOf } from './load.js';

t.test('an external Redis needs a URL', async t => {
  t.match(problemsOf({ toml: `${MINIMUM}[redis]\nmode = "external"\n` }), [
    /^postern\.toml: redis\.mode: .*redis\.url is not set\. Set redis\.url/,
  ]);
});

t.test('a managed Redis uses no URL, and one that is ignored would mislead', async t => {
  t.match(problemsOf({ toml: MINIMUM, env: { POSTERN_REDIS_URL: '/run/redis.sock' } }), [
    /^POSTERN_REDIS_URL: redis\.url is set, but redis\.mode is "managed"/,
  ]);
});

t.test('certificate and key come together', async t => {
  t.match(problemsOf({ toml: `${MINIMUM}[smtp]\ntls_cert = "/c.pem"\n` }), [/smtp\.tls_key is not/]);
  t.match(problemsOf({ toml: `${MINIMUM}[smtp]\ntls_key = "/k.pem"\n` }), [/smtp\.tls_cert is not/]);
  const config = loaded({ toml: `${MINIMUM}[smtp]\ntls_cert = "/c.pem"\ntls_key = "/k.pem"\n` });
  t.equal(config.smtp.tlsCert, '/c.pem');
});

t.test('implicit TLS needs a certificate', async t => {
  t.match(problemsOf({ toml: `${MINIMUM}[smtp]\nimplicit_tls_port = 465\n` }), [/there is no certificate/]);
  const tls = 'tls_cert = "/c.pem"\ntls_key = "/k.pem"\nimplicit_tls_port = 465\n';
  t.equal(loaded({ toml: `${MINIMUM}[smtp]\n${tls}` }).smtp.implicitTlsPort, 465);
});

t.test('mail is refused for its author only where the author is looked for', async t => {
  const inbound = '[inbound]\nunauthenticated = "reject"\n';
  t.match(problemsOf({ toml: `${MINIMUM}${inbound}dns_timeout_s = 0\n` }), [
    /^postern\.toml: inbound\.unauthenticated: .*inbound\.dns_timeout_s is 0/,
  ]);
  t.equal(loaded({ toml: `${MINIMUM}${inbound}dns_timeout_s = 1\n` }).inbound.unauthenticated, 'reject');
});

t.test('the postmaster inbox is in one of the mail domains', async t => {
  t.match(problemsOf({ toml: `${MINIMUM}postmaster_inbox = "op@example.net"\n` }), [
    /"example\.net", which is not one of mail\.domains\. Name an inbox of this service, in agents\.example\.com\.$/,
  ]);
  const config = loaded({ toml: `${MINIMUM}postmaster_inbox = "Op@Agents.Example.com"\n` });
  t.equal(config.mail.postmasterInbox, 'op@agents.example.com');
});

t.test('the policy of domains names some', async t => {
  t.match(problemsOf({ toml: `${MINIMUM}[signup]\npolicy = "domains"\n` }), [/signup\.domains names none/]);
  const named = loaded({ toml: `${MINIMUM}[signup]\npolicy = "domains"\ndomains = ["Guests.example"]\n` });
  t.same(named.signup.domains, ['guests.example']);
});

t.test('a provider to sign in with has an issuer and a client id', async t => {
  t.match(problemsOf({ toml: `${MINIMUM}[signup.oidc]\nissuer = "https://login.example.com"\n` }), [
    /signup\.oidc\.client_id is not/,
  ]);
  t.match(problemsOf({ toml: `${MINIMUM}[signup.oidc]\nname = "Login"\n` }), [
    /signup\.oidc\.name is set, but signup\.oidc\.issuer is not/,
  ]);
  t.match(problemsOf({ toml: `${MINIMUM}[signup.oidc]\nown_domains = true\n` }), [
    /signup\.oidc\.own_domains is set, but signup\.oidc\.issuer is not/,
  ]);
  const toml = `${MINIMUM}[signup.oidc]\nissuer = "https://login.example.com/"\nclient_id = "postern"\n`;
  t.equal(loaded({ toml }).signup.oidc.issuer, 'https://login.example.com/', 'letter for letter');
});
