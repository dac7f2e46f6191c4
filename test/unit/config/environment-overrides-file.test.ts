import t from 'tap';
import { load, loaded, MINIMUM, problemsOf } from './load.js';

t.test('a variable wins over the file, the file over the default', async t => {
  const toml = `${MINIMUM}[smtp]\nport = 2525\nmax_clients = 10\n`;
  const config = loaded({ toml, env: { POSTERN_SMTP_PORT: '2526' } });
  t.equal(config.smtp.port, 2526);
  t.equal(config.smtp.maxClients, 10);
  t.equal(config.smtp.idleTimeoutS, 300);
});

t.test('the environment alone is enough', async t => {
  const config = loaded({ env: { POSTERN_MAIL_DOMAINS: 'a.example.com' } });
  t.same(config.mail.domains, ['a.example.com']);
});

t.test('each kind of value has its form as text', async t => {
  const config = loaded({
    env: {
      POSTERN_MAIL_DOMAINS: ' a.example.com, b.example.com ',
      POSTERN_MAIL_RESERVED_LOCAL_PARTS: '',
      POSTERN_SERVICE_NAME: 'Box, "quoted"',
      POSTERN_STORE_MAP_SIZE_GIB: '0.5',
      POSTERN_SMTP_PORT: '0',
      POSTERN_SMTP_HOST: '127.0.0.1',
      POSTERN_LOG_LEVEL: 'debug',
    },
  });
  t.same(config.mail.domains, ['a.example.com', 'b.example.com']);
  t.same(config.mail.reservedLocalParts, []);
  t.equal(config.service.name, 'Box, "quoted"');
  t.equal(config.store.mapSizeGib, 0.5);
  t.equal(config.smtp.port, 0);
  t.equal(config.smtp.host, '127.0.0.1');
  t.equal(config.log.level, 'debug');
});

t.test('an empty variable takes back what the file says, where nothing need be set', async t => {
  const toml = `${MINIMUM}postmaster_inbox = "op@agents.example.com"\nhostname = "mx.example.com"\n`;
  const env = { POSTERN_MAIL_POSTMASTER_INBOX: '', POSTERN_MAIL_HOSTNAME: '' };
  const config = loaded({ toml, env });
  t.equal(config.mail.postmasterInbox, null);
  t.equal(config.mail.hostname, 'box.example.net');
});

t.test('a wrong value in the file is told although the environment overrides it', async t => {
  const toml = `${MINIMUM}[smtp]\nport = "x"\n`;
  t.match(problemsOf({ toml, env: { POSTERN_SMTP_PORT: '25' } }), [/^postern\.toml: smtp\.port: "x" /]);
});

t.test('each value knows where it comes from', async t => {
  const result = load({ toml: MINIMUM, env: { POSTERN_SMTP_PORT: '25' } });
  if (!result.ok) return t.fail('does not load');
  t.match(result.sources.get('mail.domains'), { kind: 'file', file: /postern\.toml$/ });
  t.same(result.sources.get('smtp.port'), { kind: 'environment', variable: 'POSTERN_SMTP_PORT' });
  t.same(result.sources.get('http.port'), { kind: 'default' });
  t.match(result.file, /postern\.toml$/);
});
