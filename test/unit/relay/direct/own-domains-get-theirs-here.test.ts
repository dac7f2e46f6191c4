import t from 'tap';
import { DeliverHere } from '../../../../src/relay/direct/deliver-here.js';
import { LocalDelivery } from '../../../../src/relay/local-delivery.js';
import { RecordingInbound } from '../../smtp/recording-inbound.js';
import { job } from './with-hosts.js';

const [AGENT, OTHER, NOBODY] = ['agent@example.org', 'other@example.org', 'nobody@example.org'] as const;

function house() {
  const inbound = new RecordingInbound();
  const local = new LocalDelivery({ inbound, hostname: 'mx.example.org', maxMessageBytes: 1_000_000 });
  const outside = { deliver: async () => t.fail('nothing leaves') as never };
  return { inbound, here: new DeliverHere({ domains: ['example.org'], local, outside }) };
}

const recipients = [AGENT, NOBODY, OTHER];

t.test('each by itself: who has no inbox keeps nothing from the others', async t => {
  const { inbound, here } = house();
  const asked: (readonly string[])[] = [];
  const beforeDot = async (taken: readonly string[]) => asked.push(taken) > 0;
  t.match(await here.deliver(job({ domain: 'example.org', recipients, beforeDot })), [
    { recipient: AGENT, state: 'delivered' },
    { recipient: NOBODY, state: 'failed', code: '5.1.1', host: null },
    { recipient: OTHER, state: 'delivered' },
  ]);
  t.same(asked, [[AGENT, OTHER]]);
  t.equal(inbound.messages.length, 2);
});

t.test('not allowed, nothing is delivered and nothing left', async t => {
  const { inbound, here } = house();
  const beforeDot = async () => false;
  t.match(await here.deliver(job({ domain: 'example.org', recipients, beforeDot })), [
    { recipient: AGENT, state: 'later' },
    { recipient: NOBODY, state: 'failed' },
    { recipient: OTHER, state: 'later' },
  ]);
  t.same(
    inbound.bodies.map(({ commits, aborts }) => [commits, aborts]),
    [
      [0, 1],
      [0, 1],
    ],
  );
});

t.test('when the store fails to mark them, nothing is delivered and nothing left', async t => {
  const { inbound, here } = house();
  const beforeDot = async () => {
    throw new Error('the disk is full');
  };
  await t.rejects(here.deliver(job({ domain: 'example.org', recipients, beforeDot })), /disk is full/);
  t.same(
    inbound.bodies.map(({ commits, aborts }) => [commits, aborts]),
    [
      [0, 1],
      [0, 1],
    ],
  );
});
