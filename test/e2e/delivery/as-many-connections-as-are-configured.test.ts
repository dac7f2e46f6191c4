import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startDirectBox } from '../../support/delivery/direct-box.js';
import { startDnsServer, type ZoneEntry } from '../../support/dns/dns-server.js';
import { send } from '../../support/sending/sending.js';
import { withFakeSmarthost } from '../../support/smarthost/fake-smarthost.js';
import { stall } from '../../support/smarthost/smarthost-script.js';

/** One account has half of the places, so that there is one for the next. */
const CONNECTIONS = 80;
const DOMAINS = CONNECTIONS / 2;

t.test('relay.direct.max_connections is what it says, above its default too', async t => {
  const server = await withFakeSmarthost(t, { mail: stall });
  const zones: Record<string, ZoneEntry> = {};
  for (let at = 0; at < DOMAINS; at++) {
    zones[`d${at}.example`] = { MX: [[10, `mx.d${at}.example`]] };
    zones[`mx.d${at}.example`] = { A: ['127.0.0.1'] };
  }
  const dns = await startDnsServer(t, zones);
  const box = await startDirectBox(t, {
    port: server.port,
    dns,
    env: { POSTERN_RELAY_DIRECT_MAX_CONNECTIONS: `${CONNECTIONS}`, POSTERN_LIMITS_SENDS: '100' },
  });
  const agent = await createAgent(box);
  const to = Array.from({ length: DOMAINS }, (_, at) => ({ address: `one@d${at}.example` }));
  await send(agent, { to, subject: 'To all', text: 'Hello' });
  await server.until(() => server.open === DOMAINS);
  t.equal(server.sessions.length, DOMAINS);
});
