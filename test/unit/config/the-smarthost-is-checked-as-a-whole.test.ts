import t from 'tap';
import { loaded, MINIMUM, problemsOf } from './load.js';

const RELAY = `${MINIMUM}[relay]\ntransport = "smarthost"\n[relay.smarthost]\n`;
const HOST = `${RELAY}host = "smtp.example.com"\n`;

t.test('out of the box nothing leaves the house', async t => {
  const { relay } = loaded({ toml: MINIMUM });
  t.equal(relay.transport, 'local');
  t.same(relay.smarthost, {
    host: null,
    port: 587,
    tls: 'starttls',
    user: null,
    passwordFile: null,
    caFile: null,
    maxConnections: 5,
    keepsMessageId: true,
  });
});

t.test('Amazon SES replaces Message-IDs, and others keep them', async t => {
  for (const [host, keeps] of [
    ['email-smtp.eu-west-1.amazonaws.com', false],
    ['Email-SMTP.us-east-1.amazonaws.com', false],
    ['email-smtp-fips.us-east-1.amazonaws.com', false],
    ['smtp.example.com', true],
    ['email-smtp.eu-west-1.amazonaws.com.example.net', true],
  ] as const) {
    const toml = `${RELAY}host = "${host}"\n`;
    t.equal(loaded({ toml }).relay.smarthost.keepsMessageId, keeps, host);
    for (const said of [true, false]) {
      const { smarthost } = loaded({ toml: `${toml}keeps_message_id = ${said}\n` }).relay;
      t.equal(smarthost.keepsMessageId, said, host);
    }
  }
});

t.test('a smarthost needs a host, and a host the smarthost', async t => {
  t.match(problemsOf({ toml: RELAY }), [/relay\.transport: .*relay\.smarthost\.host is not set\. Set relay/]);
  t.match(problemsOf({ toml: `${MINIMUM}[relay.smarthost]\nhost = "smtp.example.com"\n` }), [
    /relay\.smarthost\.host: .*relay\.transport is "local", which does not use it/,
  ]);
  t.equal(loaded({ toml: HOST }).relay.smarthost.host, 'smtp.example.com');
});

t.test('the environment sets a table within a table', async t => {
  const env = { POSTERN_RELAY_TRANSPORT: 'smarthost', POSTERN_RELAY_SMARTHOST_HOST: 'Relay.Example.com' };
  t.equal(loaded({ toml: MINIMUM, env }).relay.smarthost.host, 'relay.example.com');
});

t.test('the port follows the kind of TLS', async t => {
  for (const [tls, port] of [
    ['starttls', 587],
    ['implicit', 465],
    ['none', 25],
  ]) {
    t.equal(loaded({ toml: `${HOST}tls = "${tls}"\n` }).relay.smarthost.port, port);
    t.equal(loaded({ toml: `${HOST}tls = "${tls}"\nport = 0\n` }).relay.smarthost.port, port);
    t.equal(loaded({ toml: `${HOST}tls = "${tls}"\nport = 2525\n` }).relay.smarthost.port, 2525);
  }
  t.match(problemsOf({ toml: `${HOST}tls = "ssl"\n` }), [/relay\.smarthost\.tls: "ssl" is not one of/]);
});

t.test('user and password come together', async t => {
  t.match(problemsOf({ toml: `${HOST}user = "me"\n` }), [
    /smarthost\.user is set, but .*password_file is not/,
  ]);
  t.match(problemsOf({ toml: `${HOST}password_file = "pw"\n` }), [/password_file is set, but .*user is not/]);
  const { smarthost } = loaded({ toml: `${HOST}user = "me"\npassword_file = "/run/pw"\n` }).relay;
  t.match(smarthost, { user: 'me', passwordFile: '/run/pw' });
});

t.test('a password travels in plain text only within the machine', async t => {
  const credentials = 'tls = "none"\nuser = "me"\npassword_file = "/run/pw"\n';
  for (const host of ['smtp.example.com', '192.0.2.1', '10.0.0.1', 'localhost.example.com']) {
    t.match(problemsOf({ toml: `${RELAY}host = "${host}"\n${credentials}` }), [
      /relay\.smarthost\.tls: .*the password would go to .* in plain text\. Set/,
    ]);
  }
  for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '::1']) {
    t.equal(loaded({ toml: `${RELAY}host = "${host}"\n${credentials}` }).relay.smarthost.host, host);
  }
});

t.test('authorities that nobody asks are refused', async t => {
  t.match(problemsOf({ toml: `${HOST}tls = "none"\nca_file = "/ca.pem"\n` }), [
    /which checks no certificate/,
  ]);
});
