import { once } from 'node:events';
import { createServer } from 'node:net';
import t from 'tap';
import { pausedUntil } from '../../../src/acme/certificate-keeper.js';
import { KeptCertificate } from '../../support/acme/kept-certificate.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Starts a keeper as a process does; resolves when it has got a certificate or failed to. */
async function startAndWait(kept: KeptCertificate, changes = {}): Promise<'issued' | 'failed'> {
  const keeper = kept.keeper(changes);
  const failed = kept.log.hear(/^no certificate was issued/).then(() => 'failed' as const);
  const issued = new Promise<'issued'>(resolve => void keeper.start(() => resolve('issued')));
  const outcome = await Promise.race([issued, failed]);
  await keeper.stop();
  return outcome;
}

t.test('it is renewed when a third of its lifetime is left, and not before', async t => {
  const kept = await KeptCertificate.create(t, { days: 90 });
  t.equal(await startAndWait(kept), 'issued');
  const first = kept.keeper().folder.issued()?.certificate.serialNumber;

  kept.nowMs += 59 * DAY_MS;
  const early = kept.keeper();
  await early.start(() => t.fail('it is too early'));
  await early.stop();
  t.equal(kept.server.issued, 1);

  kept.nowMs += 1.1 * DAY_MS;
  t.equal(await startAndWait(kept), 'issued');
  t.equal(kept.server.issued, 2);
  t.not(kept.keeper().folder.issued()?.certificate.serialNumber, first);
});

t.test('other names are asked for at once', async t => {
  const kept = await KeptCertificate.create(t);
  t.equal(await startAndWait(kept), 'issued');
  t.equal(await startAndWait(kept, { names: ['mx.example.org', 'www.example.org'] }), 'issued');
  t.equal(kept.keeper().folder.issued()?.certificate.checkHost('www.example.org'), 'www.example.org');
});

t.test('while the authority fails the old one stays, and the pauses grow up to a day', async t => {
  const kept = await KeptCertificate.create(t, { days: 90 });
  t.equal(await startAndWait(kept), 'issued');
  const old = kept.keeper().folder.issued()?.certificate.serialNumber;
  kept.nowMs += 70 * DAY_MS;
  kept.server.intervene = resource =>
    resource === 'newOrder' ? { type: 'serverInternal', detail: 'we are ill', status: 500 } : null;
  const pauses: number[] = [];
  for (let failure = 1; failure <= 9; failure++) {
    t.equal(await startAndWait(kept), 'failed');
    const state = kept.keeper().folder.state();
    t.match(state, { failures: failure, error: { type: 'serverInternal', message: 'we are ill' } });
    const until = pausedUntil(kept.settings, state, kept.nowMs);
    pauses.push((until - kept.nowMs) / HOUR_MS);
    kept.nowMs = until;
  }
  t.same(pauses, [0.25, 0.5, 1, 2, 4, 8, 16, 24, 24]);
  t.equal(kept.keeper().folder.issued()?.certificate.serialNumber, old);
  kept.server.intervene = () => null;
  t.equal(await startAndWait(kept), 'issued');
  t.match(kept.keeper().folder.state(), { failures: 0, nextTryAt: null, error: null });
});

t.test('a restart does not ask again before the pause is over', async t => {
  const kept = await KeptCertificate.create(t);
  kept.server.intervene = resource =>
    resource === 'newOrder' ? { type: 'serverInternal', detail: 'we are ill', status: 500 } : null;
  t.equal(await startAndWait(kept), 'failed');
  const asked = kept.server.asked.length;
  for (let restart = 0; restart < 3; restart++) {
    const keeper = kept.keeper();
    await keeper.start(() => t.fail('nothing is issued'));
    await keeper.stop();
  }
  t.equal(kept.server.asked.length, asked);
});

t.test('an authority that asks to wait longer is obeyed', async t => {
  const kept = await KeptCertificate.create(t);
  kept.server.intervene = resource =>
    resource === 'newOrder'
      ? { type: 'rateLimited', detail: 'too many certificates', status: 429, retryAfterS: 3 * 86_400 }
      : null;
  t.equal(await startAndWait(kept), 'failed');
  const state = kept.keeper().folder.state();
  t.equal(state?.error?.type, 'rateLimited');
  t.equal(pausedUntil(kept.settings, state, kept.nowMs) - kept.nowMs, 3 * DAY_MS);
});

t.test('a port that is taken is told, and the try is made again', async t => {
  const kept = await KeptCertificate.create(t);
  const other = createServer().listen(kept.settings.port, '127.0.0.1');
  await once(other, 'listening');
  t.equal(await startAndWait(kept), 'failed');
  t.match(kept.keeper().folder.state()?.error, { type: 'listen', message: /another program has it/ });
  t.equal(kept.server.asked.length, 0, 'the authority was not asked');
  other.close();
  await once(other, 'close');
  kept.nowMs += DAY_MS;
  t.equal(await startAndWait(kept), 'issued');
});

t.test('what was begun is gone on with, and nothing is issued twice', async t => {
  const kept = await KeptCertificate.create(t);
  const keeper = kept.keeper();
  // The process ends between the wish to have it issued and the certificate.
  kept.server.intervene = resource => {
    if (resource === 'certificate') void keeper.stop();
    return null;
  };
  await t.rejects(keeper.obtain(() => {}));
  t.equal(kept.server.issued, 1);
  t.equal(keeper.folder.issued(), null);
  kept.server.intervene = () => null;
  await kept.obtain();
  t.equal(kept.server.issued, 1);
  t.equal(kept.server.orders.length, 1);
  t.not(kept.keeper().folder.issued(), null);
});

t.test(
  'a clock that was ahead for a while stops no renewal, and has nothing issued again and again',
  async t => {
    const kept = await KeptCertificate.create(t, { days: 3 });
    t.equal(await startAndWait(kept), 'issued');
    const rightMs = kept.nowMs;
    // By this clock two thirds of any lifetime of theirs are over from the start.
    kept.nowMs += 2.5 * DAY_MS;
    t.equal(await startAndWait(kept), 'issued');
    const again = kept.keeper();
    await again.start(() => t.fail('it was issued just now'));
    await new Promise(resolve => setTimeout(resolve, 600));
    await again.stop();
    t.equal(kept.server.issued, 2);

    kept.nowMs = rightMs + 3_650 * DAY_MS;
    kept.server.intervene = resource =>
      resource === 'newOrder' ? { type: 'serverInternal', detail: 'we are ill', status: 500 } : null;
    t.equal(await startAndWait(kept), 'failed');
    kept.server.intervene = () => null;
    kept.nowMs = rightMs + 2.1 * DAY_MS;
    t.equal(await startAndWait(kept), 'issued', 'the pause of the wrong clock does not count');
  },
);

t.test(
  'an answer of an authority that is out of order for a moment drops nothing that was begun',
  async t => {
    const kept = await KeptCertificate.create(t);
    kept.server.intervene = resource =>
      resource === 'certificate' ? { type: 'serverInternal', detail: 'we are ill', status: 503 } : null;
    t.equal(await startAndWait(kept), 'failed');
    kept.server.intervene = () => null;
    kept.nowMs += HOUR_MS;
    t.equal(await startAndWait(kept), 'issued');
    t.equal(kept.server.issued, 1);
    t.equal(kept.server.orders.length, 1);
  },
);
