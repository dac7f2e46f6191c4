import t from 'tap';
import type { Delivery } from '../../../src/contract/deliveries.js';
import { createAgent } from '../../support/box/agents.js';
import type { Detail } from '../../support/box/api-client.js';
import { MOVABLE_CLOCK, moveClock } from '../../support/box/moved-clock.js';
import { DOMAIN } from '../../support/box/postern-box.js';
import { makeChain } from '../../support/certificate.js';
import { deliveriesWhen, endedDeliveries, startDirectBox } from '../../support/delivery/direct-box.js';
import { MailServers } from '../../support/delivery/mail-servers.js';
import { startDnsServer } from '../../support/dns/dns-server.js';
import { startPolicyHost } from '../../support/dns/policy-host.js';
import { temporaryFolder } from '../../support/redis/redis.js';
import { firstReceived, send } from '../../support/sending/sending.js';
import { drop, type SmarthostSettings, say } from '../../support/smarthost/smarthost-script.js';

/** No other process has it, so that its port is free. */
const POLICY_HOST = `127.${1 + (process.pid % 200)}.${(process.pid >> 8) % 250}.70`;

const dns = await startDnsServer(t, {
  [`mx.${DOMAIN}`]: { A: ['127.0.0.1'] },
  'null.example': { MX: [[0, '']] },
  'loop.example': { MX: [[10, `mx.${DOMAIN}`]] },
  '_mta-sts.enforced.example': { TXT: ['v=STSv1; id=1'] },
  'mta-sts.enforced.example': { A: [POLICY_HOST] },
});
const servers = await MailServers.start(t, dns);
const { good, port } = servers;

const tls = (names: string, days?: number): SmarthostSettings => ({
  security: 'starttls',
  identity: makeChain(temporaryFolder(t), names, days),
});

const grey = await servers.add({
  rcpt: ({ session }) => (session === 1 ? say('451 4.7.1 Greylisted, come back later') : null),
});
const rude = await servers.add({ greeting: say('554 No SMTP service here') });
const busy = await servers.add({ greeting: say('421 4.3.2 Too busy') });
const cut = await servers.add({ dot: drop });
const garbled = await servers.add({ handshake: say('This is no TLS') }, tls('DNS:mx0.garbled.example'));
const refusing = await servers.add({ starttls: say('454 4.7.0 TLS not available') }, tls('DNS:x.example'));
const expired = await servers.add({}, tls('DNS:mx0.expired.example', -1));
const wrong = await servers.add({}, tls('DNS:mx0.another.example'));

servers.serve('good.example', good);
servers.serve('grey.example', grey);
servers.serve('nobody-first.example', null, good);
servers.serve('rude-first.example', rude, good);
servers.serve('busy-first.example', busy, good);
servers.serve('cut.example', cut);
servers.serve('garbled.example', garbled);
servers.serve('refusing.example', refusing);
servers.serve('expired.example', expired);
servers.serve('enforced.example', wrong);

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
const teller = await createAgent(box, 'teller');
/** The inbox `ways` is here: what it gets, the API shows byte for byte. */
const here = await createAgent(box, 'ways');

/** Sends to `name` at each of these domains, in one message. */
async function sendTo(name: string, ...domains: readonly string[]) {
  const to = domains.map(one => ({ address: `${name}@${one}` }));
  const { message } = await send(agent, { to, subject: `For ${name}`, text: 'Hello\n.\n..two dots\n' });
  t.equal(message.status, 'accepted', 'at once, whatever becomes of it');
  return message;
}

/** The message whose arrival is not known. */
let uncertain: string;
/** They have the time at which they were made. */
const SIGNATURES = /^(?:DKIM-Signature: .*\r\n(?:[ \t].*\r\n)*)+/;

const byDomain = (deliveries: readonly Delivery[]): Record<string, Delivery> =>
  Object.fromEntries(deliveries.map(one => [one.recipient.replace(/^.*@/, ''), one]));

t.test(
  'a domain without a way for mail fails at once; where one server fails, the next one gets it',
  async t => {
    const domains = ['good', 'nobody-first', 'rude-first', 'busy-first', 'null', 'loop'].map(
      one => `${one}.example`,
    );
    const { id } = await sendTo('ways', ...domains, DOMAIN);
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
    const arrived = await here.api.raw(await firstReceived(here));
    t.ok(
      good.submissions.every(({ content }) => content.equals(arrived)),
      'byte for byte what the API shows of a copy that stays here',
    );
    const text = arrived.toString('latin1');
    t.match(text, /^DKIM-Signature: /, 'the signatures included');
    t.match(text, /\r\n\r\nHello\r\n=2E\r\n=2E.two dots\r\n/, 'no relay has to change it');
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

t.test('a connection that is cut after the final dot: unknown, and told in the conversation', async t => {
  const { message } = await send(teller, {
    to: [{ address: 'one@cut.example' }],
    subject: 'Once',
    text: 'Hello',
  });
  uncertain = message.id;
  const [one] = await endedDeliveries(teller, message.id);
  t.match(one, { state: 'unknown', code: '4.4.2', host: 'mx0.cut.example' });
  const notice = await firstReceived(teller);
  const { content, thread_id } = (await teller.api.get(`/v1/messages/${notice}`)).json<Detail>();
  t.equal(content?.subject, 'Delivery uncertain: Once');
  t.match(content?.text, /It may have reached the recipient below, or may not/);
  t.equal(thread_id, message.thread_id);
  t.equal(cut.submissions.length, 1);
});

t.test('a server that greylists gets it at the second try, which comes by itself', async t => {
  const { id } = await sendTo('grey', 'grey.example');
  const [one] = await deliveriesWhen(agent, id, ([only]) => (only?.attempts ?? 0) > 0);
  t.match(one, { state: 'queued', code: '4.7.1', reply: /Greylisted/ });
  const pauseMs = Date.parse(one?.next_attempt_at ?? '') - Date.parse(one?.updated_at ?? '');
  t.ok(pauseMs > 50_000 && pauseMs < 70_000, `after about a minute (${pauseMs} ms)`);
  // While the daemon runs, the store is looked through every 30 seconds; a start does so at once.
  await box.stop();
  moveClock(box, 75_000);
  await box.start();
  t.match(await endedDeliveries(agent, id), [{ state: 'delivered', attempts: 2 }]);
  t.equal(grey.submissions.length, 1);
});

t.test(
  'what is unknown is sent again by no start and no plain retry, only when the admin says so',
  async t => {
    const { code, stderr } = await box.cli('queue', 'retry', uncertain);
    t.not(code, 0);
    t.match(stderr, /--even-if-delivered/, 'it says how');
    t.match(await endedDeliveries(teller, uncertain), [{ state: 'unknown', attempts: 1 }]);
    t.equal(cut.submissions.length, 1, 'once on the wire');
    cut.script = {};
    await box.stop();
    t.equal((await box.cli('queue', 'retry', uncertain, '--even-if-delivered')).code, 0);
    await box.start();
    t.match(await endedDeliveries(teller, uncertain), [{ state: 'delivered' }]);
    t.equal(cut.submissions.length, 2);
    const [before, after] = cut.submissions.map(({ content }) =>
      content.toString('latin1').replace(SIGNATURES, ''),
    );
    t.equal(after, before, 'the same message');
  },
);
