import t from 'tap';
import { DnsClient } from '../../../../src/dns/dns-client.js';
import { createRoutes } from '../../../../src/relay/direct/create-routes.js';
import { stsShelf } from '../../../../src/store/records/sts-policies.js';
import { startDnsServer } from '../../../support/dns/dns-server.js';
import { startPolicyHost } from '../../../support/dns/policy-host.js';
import { recordingLog } from '../../../support/redis/redis.js';
import { loaded } from '../../config/load.js';
import { dataDirectory, withStore } from '../../store/with-store.js';
import { addressesOf, namesOf } from './with-routes.js';

const POLICY = 'version: STSv1\nmode: enforce\nmx: mx.example.com\nmax_age: 86400\n';

t.test('resolvers, networks, TLS and a policy that outlives the process', async t => {
  const policyHost = await startPolicyHost(t, 'DNS:mta-sts.example.com', POLICY);
  const server = await startDnsServer(t, {
    'example.com': {
      MX: [
        [5, 'other.example.com'],
        [10, 'mx.example.com'],
      ],
    },
    'other.example.com': { A: ['127.0.0.3'] },
    'mx.example.com': { A: ['127.0.0.2', '10.0.0.1'] },
    '_mta-sts.example.com': { TXT: ['v=STSv1; id=1;'] },
    'mta-sts.example.com': { A: ['127.0.0.1'] },
    'plain.test': { A: ['127.0.0.2'] },
  });
  const config = loaded({
    toml: `[mail]\ndomains = ["agents.test"]\nhostname = "mail.agents.test"\n[dns]\nservers = ["${server.address}"]\n[relay.direct]\nallow_networks = ["127.0.0.0/8"]\nport = 2525\ntls = "require"\nipv6 = "off"\n`,
  });
  const path = dataDirectory(t);
  const log = recordingLog();
  const begin = async () => {
    const store = await withStore(t, { path });
    const dns = new DnsClient(config.dns);
    t.teardown(() => dns.close());
    const listens = () => [{ host: '127.0.0.1', port: 25 }];
    const routes = createRoutes({
      config,
      dns,
      shelf: stsShelf(store),
      listens,
      clock: Date.now,
      log,
      policyHost,
    });
    return { routes, store };
  };

  const first = await begin();
  const route = await first.routes.find('example.com');
  t.match(route, { kind: 'hosts', tls: 'verify' });
  t.same([namesOf(route), addressesOf(route)], [['mx.example.com'], ['127.0.0.2']]);
  t.match(await first.routes.find('plain.test'), { kind: 'hosts', tls: 'require' });
  t.equal(policyHost.asked.length, 1);
  await first.store.close();

  // Whoever answers for the DNS now denies that there ever was a policy.
  server.remove('_mta-sts.example.com');
  const second = await begin();
  t.match(await second.routes.find('example.com'), { kind: 'hosts', tls: 'verify' });
  t.equal(policyHost.asked.length, 1);
});
