import t from 'tap';
import { renderExample } from '../../../src/config/example.js';
import { KEY_LIST } from '../../../src/config/key-list.js';
import { loaded } from './load.js';

t.test('the example as it stands is the default configuration', async t => {
  const defaults = loaded({ env: { POSTERN_MAIL_DOMAINS: 'agents.example.com' } });
  t.same(loaded({ toml: renderExample() }), defaults);
});

t.test(
  'every key stands in the example, and every one of its lines can be taken out of its comment',
  async t => {
    const everything = renderExample().replace(/^#(?=[a-z0-9_]+ = )/gm, '');
    for (const key of KEY_LIST) t.match(everything, new RegExp(`^${key.name} = `, 'm'), key.id);
    // redis.url needs redis.mode "external", and relay.smarthost.host needs relay.transport "smarthost".
    const env = { POSTERN_REDIS_MODE: 'external', POSTERN_RELAY_TRANSPORT: 'smarthost' };
    const config = loaded({ toml: everything, env });
    t.equal(config.mail.postmasterInbox, 'operator@agents.example.com');
    t.equal(config.smtp.tlsCert, '/etc/postern/tls/fullchain.pem');
  },
);
