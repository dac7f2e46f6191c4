import t from 'tap';
import { clientNetworks } from '../../../../src/domain/addresses.js';
import { Shares } from '../../../../src/smtp/connection-limits.js';
import { GuessBrake } from '../../../../src/smtp/recipient-guesses.js';

const STEP = 1000;
const MINUTE = 60_000;
const GUESSER = clientNetworks('192.0.2.1');

function guess(brake: GuessBrake, times: number, nowMs = 0, client = GUESSER): number {
  let delayMs = 0;
  for (let n = 0; n < times; n++) delayMs = brake.unknown(client, nowMs);
  return delayMs;
}

t.test('some are prompt, each further one is later, none later than half a minute', async t => {
  const brake = new GuessBrake(STEP);
  t.equal(guess(brake, 20), 0);
  t.equal(guess(brake, 1), 1000);
  t.equal(guess(brake, 1), 2000);
  t.equal(guess(brake, 1000), 30_000);
  t.equal(guess(brake, 1, 0, clientNetworks('198.51.100.1')), 0, 'that of another network is');
});

t.test('time forgives', async t => {
  const brake = new GuessBrake(STEP);
  guess(brake, 1000);
  t.equal(guess(brake, 1, 2 * MINUTE), 30_000);
  t.equal(guess(brake, 1, 12 * MINUTE), 0);
});

t.test('a provider with stale addresses is not slowed: accepted mail pays', async t => {
  const brake = new GuessBrake(STEP);
  let delayMs = 0;
  for (let n = 0; n < 10_000; n++) {
    const nowMs = n * 100;
    brake.accepted(GUESSER, nowMs);
    if (n % 15 === 14) delayMs = Math.max(delayMs, brake.unknown(GUESSER, nowMs));
  }
  t.equal(delayMs, 0, 'forty a minute');
  t.equal(guess(brake, 100, 1_000_000), 0, 'and then a list of stale ones');
});

t.test('who knows one address does not buy the others with mail to it', async t => {
  const brake = new GuessBrake(STEP);
  let prompt = 0;
  for (let n = 0; n < 60_000; n++) {
    brake.accepted(GUESSER, n);
    if (brake.unknown(GUESSER, n) === 0) prompt += 1;
  }
  t.ok(prompt < 200, `a thousand messages a second for a minute bought ${prompt}`);
});

t.test('new /64s of a site are no new networks', async t => {
  const brake = new GuessBrake(STEP);
  let delayMs = 0;
  for (let n = 0; n < 2000; n++) {
    delayMs = brake.unknown(clientNetworks(`2001:db8:7:${n.toString(16)}::1`), 0);
  }
  t.equal(delayMs, 30_000);
  t.equal(guess(brake, 1, 0, clientNetworks('2001:db8:8::1')), 0);
});

t.test('a flood of new networks does not make us forget a guesser', async t => {
  const brake = new GuessBrake(STEP, 100);
  guess(brake, 50);
  for (let n = 0; n < 100_000; n++) {
    brake.unknown(clientNetworks(`2001:db8:${(n >> 8).toString(16)}:${(n & 255).toString(16)}::1`), 0);
  }
  t.equal(guess(brake, 1), 30_000);
});

t.test('who hangs up before the answer has his connection counted until it is due', async t => {
  const shares = new Shares({ maxClients: 1000, maxClientsPerAddress: 2 });
  shares.walkedOut(GUESSER, 5000);
  t.equal(shares.claim(GUESSER, 0), 'own');
  shares.walkedOut(GUESSER, 6000);
  t.equal(shares.claim(GUESSER, 0), 'too_many_from_address');
  t.equal(shares.claim(clientNetworks('192.0.2.2'), 0), 'own');
  t.equal(shares.claim(GUESSER, 5000), 'own');
  for (let n = 0; n < 250; n++) {
    shares.walkedOut(clientNetworks(`2001:db8:7:${n.toString(16)}::1`), 5000);
  }
  t.equal(
    shares.claim(clientNetworks('2001:db8:7:ffff::1'), 0),
    'too_many_from_address',
    'nor with new /64s',
  );
  t.equal(shares.claim(clientNetworks('2001:db8:8::1'), 0), 'own');
});

t.test('what is remembered of those has a limit', async t => {
  const shares = new Shares({ maxClients: 1000, maxClientsPerAddress: 1 });
  for (let n = 0; n < 30_000; n++) shares.walkedOut(clientNetworks(`100.${n >> 8}.${n & 255}.1`), 5000);
  t.equal(shares.claim(clientNetworks('100.0.0.1'), 0), 'own', 'the first are forgotten');
  t.equal(shares.claim(clientNetworks(`100.${29_999 >> 8}.${29_999 & 255}.1`), 0), 'too_many_from_address');
});
