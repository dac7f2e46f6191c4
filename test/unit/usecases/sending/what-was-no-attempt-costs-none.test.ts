import t from 'tap';
import { DELIVERED, HOUR_MS, LATER, withDeliveries } from './with-deliveries.js';

t.test('while the destination rests, waiting is no attempt and keeps what was said last', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  desk.answers.set('a@far.example', LATER);
  const sentId = await desk.send(inbox, 'a@far.example');
  const { id } = desk.of(sentId)[0]!;
  await desk.deliver(id);
  const [before] = desk.of(sentId);
  house.now.ms = before!.nextAt!;
  desk.answers.set('a@far.example', {
    state: 'later',
    host: null,
    code: '4.4.5',
    reply: '',
    retryAfterMs: 60_000,
  });
  const againMs = (await desk.deliver(id)) ?? 0;
  t.ok(againMs >= 60_000 && againMs <= 66_000, `${againMs} ms`);
  const [after] = desk.of(sentId);
  t.equal(after!.attempts, 1);
  t.same(after!.recipients, before!.recipients);
});

t.test('a stop whose mark was on disk already lets it be tried again when the service starts', async t => {
  const { desk, inbox } = await withDeliveries(t);
  desk.answers.set('a@far.example', async job => {
    t.equal(await job.beforeDot(['a@far.example']), true);
    return { state: 'later', code: '4.3.2', reply: 'the service is being stopped', retryAfterMs: 0 };
  });
  const sentId = await desk.send(inbox, 'a@far.example');
  const { id } = desk.of(sentId)[0]!;
  t.equal(await desk.deliver(id), 0, 'due at once');
  t.match(desk.of(sentId), [{ attempts: 0, recipients: [{ state: 'queued', attempts: 0 }] }]);
  desk.answers.set('a@far.example', DELIVERED);
  t.equal(await desk.deliver(id), undefined);
  t.match(desk.of(sentId), [{ attempts: 1, recipients: [{ state: 'delivered', attempts: 1 }] }]);
});

t.test('nothing is given up for what was no attempt, however old it is', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  const sentId = await desk.send(inbox, 'a@far.example');
  const { id } = desk.of(sentId)[0]!;
  house.now.ms += 72 * HOUR_MS;
  for (const retryAfterMs of [60_000, 0]) {
    desk.answers.set('a@far.example', { state: 'later', host: null, code: '4.4.5', reply: '', retryAfterMs });
    await desk.deliver(id);
    t.match(desk.of(sentId), [{ attempts: 0, recipients: [{ state: 'queued' }] }]);
    house.now.ms += 70_000;
  }
  desk.answers.set('a@far.example', LATER);
  await desk.deliver(id);
  t.match(desk.of(sentId), [{ attempts: 1, recipients: [{ state: 'failed', code: '4.4.7' }] }]);
});
