import t from 'tap';
import { certificateNames } from '../../../src/acme/settings.js';
import { configWarnings } from '../../../src/config/config-warnings.js';
import { loaded, MINIMUM, problemsOf } from './load.js';

const ACME = '[tls]\nacme = true\nagree_to_terms = true\n';
const FILES = 'tls_cert = "/c.pem"\ntls_key = "/k.pem"\n';

t.test('by itself nothing is asked for, and HTTP is plain', async t => {
  const { tls, http } = loaded({ toml: MINIMUM });
  t.match(tls, { acme: false, acmePort: 80, directoryUrl: 'https://acme-v02.api.letsencrypt.org/directory' });
  t.equal(http.tls, 'off');
});

t.test('the terms of the authority are agreed to', async t => {
  t.match(problemsOf({ toml: `${MINIMUM}[tls]\nacme = true\n` }), [
    /^postern\.toml: tls\.acme: .*tls\.agree_to_terms is false.*set tls\.agree_to_terms to true/,
  ]);
  t.same(problemsOf({ toml: MINIMUM + ACME }), []);
});

t.test('the mail server has a name on the Internet', async t => {
  for (const name of ['box', 'box.local', 'mail.localhost', 'mx.internal']) {
    t.match(
      problemsOf({ toml: `${MINIMUM}hostname = "${name}"\n${ACME}` }),
      [/^postern\.toml: mail\.hostname: /],
      name,
    );
  }
});

t.test('somebody serves the certificate', async t => {
  t.match(problemsOf({ toml: `${MINIMUM}[smtp]\n${FILES}${ACME}` }), [/nothing would serve its certificate/]);
  t.same(problemsOf({ toml: `${MINIMUM}[smtp]\n${FILES}[http]\ntls = "acme"\n${ACME}` }), []);
  t.same(problemsOf({ toml: `${MINIMUM}[smtp]\nimplicit_tls_port = 465\n${ACME}` }), []);
});

t.test('HTTPS has a certificate', async t => {
  t.match(problemsOf({ toml: `${MINIMUM}[http]\ntls = "files"\n` }), [/http\.tls_cert is not set/]);
  t.match(problemsOf({ toml: `${MINIMUM}[http]\ntls = "acme"\n` }), [/tls\.acme is false/]);
  t.match(problemsOf({ toml: `${MINIMUM}[http]\ntls_cert = "/c.pem"\n` }), [/http\.tls_key is not/]);
  t.match(problemsOf({ toml: `${MINIMUM}[http]\ntls = "off"\n${FILES}` }), [/http\.tls is "off"/]);
  t.equal(loaded({ toml: `${MINIMUM}[http]\n${FILES}` }).http.tls, 'files');
});

t.test('the port for proofs is one of its own', async t => {
  t.match(problemsOf({ toml: `${MINIMUM}[http]\nport = 80\n${ACME}` }), [/Set tls\.acme_port to 0/]);
  t.same(problemsOf({ toml: `${MINIMUM}[http]\nport = 80\n${ACME}acme_port = 0\n` }), []);
});

t.test('an authority without TLS is on this machine', async t => {
  t.match(problemsOf({ toml: `${MINIMUM}${ACME}directory_url = "http://ca.example.org/d"\n` }), [
    /is not https/,
  ]);
  t.same(problemsOf({ toml: `${MINIMUM}${ACME}directory_url = "http://127.0.0.1:14000/d"\n` }), []);
});

t.test('a public URL that HTTPS does not fit is told', async t => {
  const warned = (settings: string) =>
    configWarnings(loaded({ toml: MINIMUM + settings })).map(({ where }) => where);
  const https = '[service]\npublic_url = "https://mail.example.com"\n';
  t.same(warned(`[http]\nhost = "::"\n${FILES}${https}`), []);
  t.same(warned(`[http]\nhost = "::"\n${FILES}`), ['service.public_url']);
  t.same(warned(`[http]\n${FILES}${https}`), ['http.host']);
  t.same(warned(`[http]\ntls = "acme"\nhost = "::"\n${ACME}[service]\npublic_url = "https://192.0.2.1"\n`), [
    'service.public_url',
  ]);
});

t.test('the certificate is for the mail server and the host of the public URL', async t => {
  t.same(certificateNames('mx.example.org', 'https://api.example.org:8443/x'), [
    'mx.example.org',
    'api.example.org',
  ]);
  t.same(certificateNames('mx.example.org', 'https://mx.example.org'), ['mx.example.org']);
  for (const url of ['http://localhost:8025', 'https://192.0.2.1', 'https://[2001:db8::1]:8443']) {
    t.same(certificateNames('mx.example.org', url), ['mx.example.org'], url);
  }
});
