import type { Test } from 'tap';
import t from 'tap';
import { recoverSends } from '../../../../src/usecases/sending/attempt.js';
import { ACCEPTED } from '../../../support/sending/scripted-relay.js';
import { type CliBox, cliBox, DOMAIN } from '../cli-box.js';
import { sendFrom } from './cli-sends.js';

const AGENT = `agent@${DOMAIN}`;

/** A box whose daemon was down for more than a day, and is about to start. */
async function boxWithHeld(t: Test): Promise<{ box: CliBox; held: string[]; waiting: string; sent: string }> {
  const box = await cliBox(t);
  await box.json('account', 'create', 'ada@example.org');
  await box.json('inbox', 'create', '--account', 'ada@example.org', 'agent');
  const held = [];
  for (const subject of ['first', 'second']) {
    held.push(await sendFrom(box, AGENT, { reservedHoursAgo: 25 }, { subject }));
  }
  const waiting = await sendFrom(box, AGENT, { reservedHoursAgo: 1 });
  const sent = await sendFrom(box, AGENT, ACCEPTED);
  await box.withStore(store => recoverSends({ store, clock: Date.now }));
  return { box, held, waiting, sent };
}

t.test('an idle box has nothing that waits', async t => {
  const box = await cliBox(t);
  t.same(await box.json<object>('queue', 'status'), {
    parse: { waiting: 0, oldest_age_s: null },
    relay: { waiting: 0, started: 0, oldest_age_s: null },
    deliver: { waiting: 0, oldest_age_s: null },
    held: [],
    is_partial: false,
  });
  t.match((await box.run('queue', 'status')).out, /^No send is held\.$/m);
  t.match((await box.run('queue', 'retry', '--all')).out, 'Nothing was held.');
});

t.test('status tells what waits, and what is held', async t => {
  const { box, held } = await boxWithHeld(t);
  await box.deliver(AGENT, 'Subject: x\r\n\r\nx\r\n');
  t.match(await box.json<object>('queue', 'status'), {
    parse: { waiting: 1, oldest_age_s: Number },
    relay: { waiting: 1, started: 0, oldest_age_s: Number },
    held: [
      { id: held[0], subject: 'first', in_trash: false },
      { id: held[1], subject: 'second', in_trash: false },
    ],
  });
  const { out } = await box.run('queue', 'status');
  t.match(out, /^waiting_to_be_parsed +1$/m);
  t.match(out, /^waiting_to_be_sent +1$/m);
  t.match(out, new RegExp(`^${held[1]} .* second$`, 'm'));

  const { pending } = await box.json<{ pending: object }>('status');
  t.match(pending, { messages: 1, sends: 1, oldest_send_age_s: Number, held_sends: 2 });
  t.match(
    (await box.run('status')).out,
    /^to_be_sent +1, the oldest for 1 h.* \(and 2 held: see "postern queue status"\)$/m,
  );
});

t.test('one is let go, then all, and what was started never', async t => {
  const { box, held, waiting, sent } = await boxWithHeld(t);
  t.same(await box.json<object>('queue', 'retry', held[0]!), { retried: [held[0]] });
  t.match(
    (await box.run('queue', 'retry', held[0]!)).out,
    /^It is not held: the daemon is about to send it\.$/m,
  );
  t.same(await box.json<object>('queue', 'retry', waiting), { retried: [] });
  t.match(await box.failure('queue', 'retry', sent), {
    code: 1,
    error: { code: 'invalid_request', message: /was started.*never sent again/ },
  });
  t.match(await box.failure('queue', 'retry', '01900000-0000-7000-8000-000000000000'), { code: 4 });
  t.match((await box.run('queue', 'retry', '--all')).out, /^1 held no longer: the daemon sends/);
  t.match(await box.json<object>('queue', 'status'), { relay: { waiting: 3 }, held: [] });
});

t.test('one or all, not both and not neither', async t => {
  const { box, held } = await boxWithHeld(t);
  t.match(await box.failure('queue', 'retry'), { code: 2, error: { code: 'usage' } });
  t.match(await box.failure('queue', 'retry', held[0]!, '--all'), { code: 2, error: { code: 'usage' } });
  t.equal((await box.json<{ held: [] }>('queue', 'status')).held.length, 2, 'nothing was let go');
});

t.test('an allowance is shown with what is used of it', async t => {
  const { box } = await boxWithHeld(t);
  await sendFrom(box, AGENT, ACCEPTED, { cc: [{ address: 'bob@b.example' }] });
  t.match(await box.json<object>('allowance', 'show', '--account', 'ada@example.org'), {
    // Those that were reserved 25 hours ago count no longer.
    sends: { allowance: 25, used: 4, is_default: true },
  });
  t.match((await box.run('allowance', 'show')).out, /4 of 25 in 24 hours used \(default\)/);
});
