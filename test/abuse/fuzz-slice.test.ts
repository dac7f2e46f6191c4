import t from 'tap';
import { startFuzzBox } from '../fuzz/fuzz-box.js';
import { fuzzMessages } from '../fuzz/mime-messages.js';
import { fuzzSessions } from '../fuzz/smtp-sessions.js';

/** A slice of `npm run fuzz`, the same each time. */
const slice = { seed: 20261127, seconds: 90, report: () => {} };

t.test('a few hundred odd sessions break no promise', async t => {
  const { box, address } = await startFuzzBox(t);
  const { tried, failures, figures } = await fuzzSessions({ ...slice, box, address, count: 400 });
  t.same(failures, []);
  t.ok(tried > 0, `${tried} sessions`);
  t.ok((figures.accepted ?? 0) > 0, `${figures.accepted} messages`);
  t.same(await box.stop(), { code: 0, signal: null });
});

t.test('a thousand odd messages are parsed within the limits', async t => {
  const { tried, failures } = await fuzzMessages({ ...slice, count: 1000 });
  t.same(failures, []);
  t.ok(tried > 0, `${tried} messages`);
});
