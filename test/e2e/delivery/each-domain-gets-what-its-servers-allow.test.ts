import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { Delivery } from '../../../src/contract/deliveries.js';
import { createAgent } from '../../support/box/agents.js';
import type { Detail } from '../../support/box/api-client.js';
import { MOVABLE_CLOCK, moveClock } from '../../support/box/moved-clock.js';
import { DOMAIN } from '../../support/box/postern-box.js';
import { makeChain } from '../../support/certificate.js';
import { deliveriesWhen, endedDeliveries, startDirectBox } from '../../support/delivery/direct-box.js';
import { startDnsServer, type ZoneEntry } from '../../support/dns/dns-server.js';
import { startPolicyHost } from '../../support/dns/policy-host.js';
import { temporaryFolder } from '../../support/redis/redis.js';
import { firstReceived, send } from '../../support/sending/sending.js';
import { type FakeSmarthost, withFakeSmarthost } from '../../support/smarthost/fake-smarthost.js';
import { drop, type Script, type SmarthostSettings, say } from '../../support/smarthost/smarthost-script.js';

/*
 * Every server has an address of its own on loopback, and all have the same port, as mail servers do. What they do
 * wrong, they do for real.
 */

const POLICY_HOST = '127.0.0.70';
const NOBODY = '127.0.0.71';

const first = await withFakeSmarthost(t);
const { port } = first;
const zones: Record<string, ZoneEntry> = { [`mx.${DOMAIN}`]: { A: ['127.0.0.1'] } };
let servers = 0;

/** A domain whose mail servers these are, by preference; an address in place of a server has nobody behind it. */
function domain(name: string, ...hosts: readonly (FakeSmarthost | string)[]): void {
  zones[name] = { MX: hosts.map((_, at) => [at, `mx${at}.${name}`] as const) };
  for (const [at, host] of hosts.entries()) {
    zones[`mx${at}.${name}`] = { A: [typeof host === 'string' ? host : (host.settings.address ?? '')] };
  }
}

function server(script: Script = {}, settings: SmarthostSettings = {}): Promise<FakeSmarthost> {
  servers += 1;
  return withFakeSmarthost(t, script, { ...settings, port, address: `127.0.0.${10 + servers}` });
}

const tls = (names: string, days?: number): SmarthostSettings => ({
  security: 'starttls',
  identity: makeChain(temporaryFolder(t), names, days),
});

const good = await server();
const grey = await server({
  rcpt: ({ session }) => (session === 1 ? say('451 4.7.1 Greylisted, come back later') : null),
});
const rude = await server({ greeting: say('554 No SMTP service here') });
const busy = await server({ greeting: say('421 4.3.2 Too busy') });
const cut = await server({ dot: drop });
const garbled = await server({ handshake: say('This is no TLS') }, tls('DNS:mx0.garbled.example'));
const refusing = await server({ starttls: say('454 4.7.0 TLS not available') }, tls('DNS:x.example'));
const expired = await server({}, tls('DNS:mx0.expired.example', -1));
const wrong = await server({}, tls('DNS:mx0.another.example'));

domain('good.example', good);
domain('grey.example', grey);
domain('nobody-first.example', NOBODY, good);
domain('rude-first.example', rude, good);
domain('busy-first.example', busy, good);
domain('cut.example', cut);
domain('garbled.example', garbled);
domain('refusing.example', refusing);
domain('expired.example', expired);
domain('enforced.example', wrong);
zones['null.example'] = { MX: [[0, '']] };
zones['loop.example'] = { MX: [[10, `mx.${DOMAIN}`]] };
zones['_mta-sts.enforced.example'] = { TXT: ['v=STSv1; id=1'] };
zones['mta-sts.enforced.example'] = { A: [POLICY_HOST] };

const dns = await startDnsServer(t, zones);
const policies = await startPolicyHost(
  t,
  'DNS:mta-sts.enforced.example',
  'version: STSv1\nmode: enforce\nmx: mx0.enforced.example\nmax_age: 86400\n',
  // Where policies are: the port cannot be another one.
  { address: POLICY_HOST, port: 443 },
);
const box = await startDirectBox(t, {
  port,
  dns,
  env: { ...MOVABLE_CLOCK, NODE_EXTRA_CA_CERTS: policies.caFile },
});
const agent = await createAgent(box);

/** Sends to `name` at each of these domains, in one message. */
async function sendTo(name: string, ...domains: readonly string[]) {
  const to = domains.map(one => ({ address: `${name}@${one}` }));
  const { message } = await send(agent, { to, subject: `For ${name}`, text: 'Hello\n.\n..two dots\n' });
  t.equal(message.status, 'accepted', 'at once, whatever becomes of it');
  return message;
}

const byDomain = (deliveries: readonly Delivery[]): Record<string, Delivery> =>
  Object.fromEntries(deliveries.map(one => [one.recipient.replace(/^.*@/, ''), one]));

t.test(
  'a domain without a way for mail fails at once; where one server fails, the next one gets it',
  async t => {
    const domains = ['good', 'nobody-first', 'rude-first', 'busy-first', 'null', 'loop'].map(
      one => `${one}.example`,
    );
    const { id } = await sendTo('ways', ...domains);
    const seen = byDomain(await endedDeliveries(agent, id));
    t.match(seen, {
      'good.example': { state: 'delivered', host: 'mx0.good.example', tls: null, code: '2.0.0' },
      'nobody-first.example': { state: 'delivered', host: 'mx1.nobody-first.example', attempts: 1 },
      'rude-first.example': { state: 'delivered', host: 'mx1.rude-first.example', attempts: 1 },
      'busy-first.example': { state: 'delivered', host: 'mx1.busy-first.example', attempts: 1 },
      'null.example': { state: 'failed', code: '5.1.10', host: null },
      'loop.example': { state: 'failed', code: '5.4.6', host: null },
    });
    t.equal(good.submissions.length, 4, 'once for each domain');
    const contents = new Set(good.submissions.map(({ content }) => content.toString('latin1')));
    t.equal(contents.size, 1, 'the same bytes, signature included');
    t.match([...contents][0], /\r\n\r\nHello\r\n=2E\r\n=2E.two dots\r\n/, 'no relay has to change them');
  },
);

t.test(
  'TLS where it can be had: any certificate will do, and plain text when the handshake fails',
  async t => {
    const { id } = await sendTo('tls', 'expired.example', 'garbled.example', 'refusing.example');
    const seen = byDomain(await endedDeliveries(agent, id));
    t.match(seen, {
      'expired.example': { state: 'delivered', tls: /^TLSv1\.[23]$/ },
      'garbled.example': { state: 'delivered', tls: null },
      'refusing.example': { state: 'delivered', tls: null },
    });
    t.same(
      [expired, garbled, refusing].map(one => one.submissions.map(({ isTls }) => isTls)),
      [[true], [false], [false]],
    );
  },
);

t.test('with an MTA-STS policy that is enforced, a server with another name gets nothing', async t => {
  const { id } = await sendTo('sts', 'enforced.example');
  const [one] = await deliveriesWhen(agent, id, ([only]) => (only?.attempts ?? 0) > 0);
  t.match(one, { state: 'queued', code: '4.7.5', next_attempt_at: /Z$/ });
  t.match(policies.asked, ['mta-sts.enforced.example /.well-known/mta-sts.txt']);
  t.equal(wrong.submissions.length, 0);
  t.equal(wrong.sessions.flatMap(({ lines }) => lines.filter(line => /^MAIL/i.test(line))).length, 0);
  t.equal((await box.cli('queue', 'cancel', id)).code, 0);
});

t.test(
  'a connection that is cut after the final dot: unknown, told, and sent again only on demand',
  async t => {
    const teller = await createAgent(box, 'teller');
    const { message } = await send(teller, {
      to: [{ address: 'one@cut.example' }],
      subject: 'Once',
      text: 'Hello',
    });
    const [one] = await endedDeliveries(teller, message.id);
    t.match(one, { state: 'unknown', code: '4.4.2', host: 'mx0.cut.example' });
    const notice = await firstReceived(teller);
    const { content, thread_id } = (await teller.api.get(`/v1/messages/${notice}`)).json<Detail>();
    t.equal(content?.subject, 'Delivery uncertain: Once');
    t.match(content?.text, /It may have reached the recipient below, or may not/);
    t.equal(thread_id, message.thread_id, 'in the conversation of the message');
    t.not((await box.cli('queue', 'retry', message.id)).code, 0, 'not without saying that it may come twice');
    await box.restart();
    t.equal(cut.submissions.length, 1, 'once on the wire, also after a restart');
    cut.script = {};
    t.equal((await box.cli('queue', 'retry', message.id, '--even-if-delivered')).code, 0);
    t.match(await deliveriesWhen(teller, message.id, ([only]) => only?.state === 'delivered'), [
      { state: 'delivered' },
    ]);
    t.equal(cut.submissions.length, 2);
  },
);

t.test('a server that greylists gets it at the second try, which comes by itself', async t => {
  const { id } = await sendTo('grey', 'grey.example');
  const [one] = await deliveriesWhen(agent, id, ([only]) => (only?.attempts ?? 0) > 0);
  t.match(one, { state: 'queued', code: '4.7.1', reply: /Greylisted/ });
  const pauseMs = Date.parse(one?.next_attempt_at ?? '') - Date.parse(one?.updated_at ?? '');
  t.ok(pauseMs > 50_000 && pauseMs < 70_000, `after about a minute (${pauseMs} ms)`);
  await delay(1_500); // The session that is kept for the next message ends by itself or with this one.
  moveClock(box, 75_000);
  t.match(await endedDeliveries(agent, id), [{ state: 'delivered', attempts: 2 }]);
  t.equal(grey.submissions.length, 1);
});
