import t from 'tap';
import {
  type Act,
  andThen,
  drop,
  raw,
  reset,
  say,
  stall,
} from '../../../support/smarthost/smarthost-script.js';
import { deliverOne, verbs, withOneHost } from './with-hosts.js';

const times = { commandMs: 150, dataMs: 150, blockMs: 150, contentMs: 150, verdictMs: 150 };
/** Too long to be in the buffers of the network as a whole. */
const LONG = Buffer.from(`${'x'.repeat(76)}\r\n`.repeat(100_000));

const losses: readonly (readonly [string, Act])[] = [
  ['the end', drop],
  ['a reset', reset],
  ['silence', stall],
  ['garbage', say('what?')],
  ['half a reply and the end', andThen(raw('250 O'), 'drop')],
];

for (const [claim, act] of losses) {
  t.test(`${claim} behind the dot: unknown, and it was there once`, async t => {
    const { server, deliverer } = await withOneHost(t, { script: { dot: act } }, times);
    t.match(await deliverOne(deliverer), { state: 'unknown', code: '4.4.2', host: 'mx.elsewhere.example' });
    t.equal(server.submissions.length, 1);
    t.equal(server.sessions.length, 1);
  });

  t.test(`${claim} in the middle of the content: later, and no dot was there`, async t => {
    const { server, deliverer } = await withOneHost(
      t,
      { script: { content: { afterBytes: 100_000, step: act } } },
      times,
    );
    const beforeDot = async () => t.fail('not asked') as boolean;
    t.match(await deliverOne(deliverer, { content: LONG, beforeDot }), { state: 'later' });
    t.equal(server.submissions.length, 0);
  });

  t.test(`${claim} while the mark is written: the dot does not leave`, async t => {
    const { server, deliverer } = await withOneHost(t, {}, times);
    const outcome = await deliverOne(deliverer, {
      beforeDot: async () => {
        await server.perform(act);
        if (act === stall) return false;
        await new Promise(resolve => setTimeout(resolve, 50));
        return true;
      },
    });
    t.match(outcome, { state: 'later' });
    t.equal(server.submissions.length, 0);
  });
}

t.test('everything but the dot is there when it is asked for, and without leave it never comes', async t => {
  const { server, deliverer } = await withOneHost(t);
  const content = 'Subject: x\r\n\r\n.dot\r\n';
  const outcome = await deliverOne(deliverer, {
    content,
    beforeDot: async () => {
      await server.until(() => server.sessions[0]?.contentBytes === content.length + 1);
      return false;
    },
  });
  t.match(outcome, { state: 'later', code: '4.3.2' });
  await server.until(() => server.open === 0);
  t.equal(server.submissions.length, 0);
  t.equal(server.sessions[0]?.contentBytes, content.length + 1);
  t.notOk(verbs(server).includes('RSET'), 'an unfinished message ends with its connection');
});

t.test('a mark that cannot be written: later, and no dot', async t => {
  const { server, deliverer } = await withOneHost(t);
  const outcome = await deliverOne(deliverer, { beforeDot: () => Promise.reject(new Error('disk full')) });
  t.match(outcome, { state: 'later', code: '4.3.0' });
  t.notMatch(outcome.reply, /disk full/);
  await server.until(() => server.open === 0);
  t.equal(server.submissions.length, 0);
});

t.test('a refusal while the mark is written is the answer, and the dot does not leave', async t => {
  const { server, deliverer } = await withOneHost(t);
  const outcome = await deliverOne(deliverer, {
    beforeDot: async () => {
      await server.perform(say('552 5.3.4 Too much'));
      await new Promise(resolve => setTimeout(resolve, 50));
      return true;
    },
  });
  t.match(outcome, { state: 'failed', code: '5.3.4' });
  t.equal(server.submissions.length, 0);
});

t.test('2xx in the middle of the content: that server has accepted something', async t => {
  const step = say('250 OK');
  const { server, deliverer } = await withOneHost(t, { script: { content: { afterBytes: 100_000, step } } });
  t.match(await deliverOne(deliverer, { content: LONG }), { state: 'unknown', code: '4.5.0' });
  t.equal(server.submissions.length, 0);
});
