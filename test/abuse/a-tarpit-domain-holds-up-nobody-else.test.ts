import t from 'tap';
import { createAgent } from '../support/box/agents.js';
import { startBox } from '../support/box/postern-box.js';
import { startDnsServer } from '../support/dns/dns-server.js';
import { send, submission } from '../support/sending/sending.js';
import { stall } from '../support/smarthost/smarthost-script.js';
import { startHosts } from '../unit/relay/direct/with-hosts.js';

/** More than the places of all deliveries. */
const WAITING = 300;
/** Of one domain at a time (`relay/direct/options.ts`), and of all deliveries for one account beside a free half. */
const PER_DOMAIN = 10;
const PER_ACCOUNT = 25;
const TARPITS = 8;

t.test('hundreds of messages to a tarpit, and a flood to many, leave others their way', async t => {
  const { servers, port } = await startHosts(t, [{ script: { greeting: stall } }, {}]);
  const [tarpit, good] = servers as [(typeof servers)[0], (typeof servers)[0]];
  const zone: Record<string, object> = {
    'tar.example': { MX: [[10, 'mx.tar.example']] },
    'mx.tar.example': { A: ['127.0.0.1'] },
    'good.example': { MX: [[10, 'mx.good.example']] },
    'mx.good.example': { A: ['127.0.0.2'] },
  };
  for (let n = 0; n < TARPITS; n++) {
    zone[`tar${n}.example`] = { MX: [[10, `mx.tar${n}.example`]] };
    zone[`mx.tar${n}.example`] = { A: ['127.0.0.1'] };
  }
  const dns = await startDnsServer(t, zone);
  const box = await startBox(t, {
    env: {
      POSTERN_RELAY_TRANSPORT: 'direct',
      POSTERN_RELAY_DIRECT_PORT: String(port),
      POSTERN_RELAY_DIRECT_ALLOW_NETWORKS: '127.0.0.0/8',
      POSTERN_RELAY_DIRECT_IPV6: 'off',
      POSTERN_DNS_SERVERS: dns.address,
      POSTERN_LIMITS_SENDS: '100000',
    },
  });
  const ann = await createAgent(box, 'ann');
  const bob = await createAgent(box, 'bob');
  for (let left = WAITING; left > 0; left -= 20) {
    await Promise.all(Array.from({ length: 20 }, () => send(ann, submission('x@tar.example'))));
  }
  await tarpit.until(() => tarpit.open === PER_DOMAIN);
  await send(ann, submission('friend@good.example'));
  await good.until(() => good.submissions.length === 1);
  t.equal(tarpit.sessions.length, PER_DOMAIN, 'the tarpit has its share and none has ended');

  // The same account floods eight tarpits: it takes half of all places, and another account has its own.
  for (let n = 0; n < TARPITS; n++) {
    await Promise.all(Array.from({ length: 20 }, () => send(ann, submission(`x@tar${n}.example`))));
  }
  await tarpit.until(() => tarpit.open === PER_ACCOUNT);
  await send(bob, submission('friend@good.example'));
  await good.until(() => good.submissions.length === 2);
  t.equal(tarpit.sessions.length, PER_ACCOUNT);
  t.same(
    good.submissions.map(({ from }) => from),
    [ann.address, bob.address],
  );
});
