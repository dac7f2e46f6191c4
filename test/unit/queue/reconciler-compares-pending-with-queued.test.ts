import type { Test } from 'tap';
import t from 'tap';
import type { MessageId } from '../../../src/domain/ids.js';
import { type ReconciledQueue, Reconciler, type Scope } from '../../../src/queue/reconciler.js';
import { PendingList, recordingLog } from '../../support/redis/redis.js';

/** A queue in memory that records its calls and can be made to fail. */
class FakeQueue implements ReconciledQueue {
  readonly queued = new Set<MessageId>();
  /** Ids that Redis has lost without anybody noticing. */
  readonly lost = new Set<MessageId>();
  readonly pages: number[] = [];
  room = 1_000;
  isReady = true;
  failNext = 0;
  inFlight = 0;
  overlapped = false;
  readonly #listeners = new Set<(scope: Scope) => void>();

  async forgetLost(): Promise<void> {
    for (const id of this.lost) this.queued.delete(id);
    this.lost.clear();
  }

  async add(ids: readonly MessageId[]): ReturnType<ReconciledQueue['add']> {
    this.overlapped ||= this.inFlight > 0;
    this.inFlight++;
    await new Promise(resolve => setImmediate(resolve));
    this.inFlight--;
    if (this.failNext > 0) {
      this.failNext--;
      throw new Error('refused');
    }
    this.pages.push(ids.length);
    const missing = ids.filter(id => !this.queued.has(id));
    const added = missing.slice(0, this.room - this.queued.size);
    for (const id of added) this.queued.add(id);
    const isFull = added.length < missing.length;
    return { added: added.length, isFull, isRefilled: isFull };
  }

  onReady(listener: (scope: Scope) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  reconnect(): void {
    this.isReady = true;
    this.announce('everything');
  }

  announce(scope: Scope): void {
    for (const listener of this.#listeners) listener(scope);
  }
}

function setUp(t: Test, options: { isReady?: boolean } = {}) {
  const queue = new FakeQueue();
  queue.isReady = options.isReady ?? true;
  const pending = new PendingList();
  const log = recordingLog();
  const reconciler = new Reconciler({ listPending: pending.list, queue, log, pageSize: 10 });
  t.teardown(() => reconciler.stop());
  return { queue, pending, log, reconciler };
}

t.test('at the start it looks at everything, page by page', async t => {
  const { queue, pending, reconciler } = setUp(t);
  pending.add(25);
  reconciler.start();
  await reconciler.runNow();
  t.equal(queue.queued.size, 25);
  t.same(queue.pages.slice(0, 3), [10, 10, 5]);
});

t.test('after that the oldest page is enough, and some pages from where the last run ended', async t => {
  const { queue, pending, reconciler } = setUp(t);
  pending.add(145);
  reconciler.start();
  await reconciler.runNow();
  queue.pages.length = 0;
  for (let run = 1; run <= 3; run++) await reconciler.runNow();
  t.ok(queue.pages.length < 3 * 12, `${queue.pages.length} pages`);
});

t.test('so what is missing behind a backlog that does not move is met', async t => {
  const { queue, pending, reconciler } = setUp(t);
  pending.add(145);
  reconciler.start();
  await reconciler.runNow();
  const [late] = pending.add(1);
  for (let run = 1; run <= 3; run++) await reconciler.runNow();
  t.ok(queue.queued.has(late!));
});

t.test('but it goes on as long as something was missing', async t => {
  const { queue, pending, reconciler } = setUp(t);
  pending.add(45);
  reconciler.start();
  await reconciler.runNow();
  for (const id of queue.queued) queue.lost.add(id);
  await reconciler.runNow();
  t.equal(queue.queued.size, 45);
});

t.test('a full queue ends a run, and room again begins one', async t => {
  const { queue, pending, reconciler } = setUp(t);
  pending.add(45);
  queue.room = 15;
  reconciler.start();
  await reconciler.runNow();
  t.equal(queue.queued.size, 15);
  t.same(queue.pages.slice(0, 2), [10, 10], 'no page is looked at in vain');
  queue.room = 45;
  queue.announce('room');
  await reconciler.runNow();
  t.equal(queue.queued.size, 45);
});

t.test('when Redis returns it looks at everything, though the first page be complete', async t => {
  const { queue, pending, reconciler } = setUp(t, { isReady: false });
  const ids = pending.add(30);
  reconciler.start();
  await reconciler.runNow();
  t.same(queue.pages, []);
  for (const id of ids.slice(0, 10)) queue.queued.add(id);
  queue.reconnect();
  await reconciler.runNow();
  t.equal(queue.queued.size, 30);
});

t.test('runs never overlap, and a request during a run is served after it', async t => {
  const { queue, pending, reconciler } = setUp(t);
  pending.add(30);
  reconciler.start();
  queue.reconnect();
  await Promise.all([reconciler.runNow(), reconciler.runNow(), reconciler.runNow()]);
  queue.reconnect();
  await reconciler.runNow();
  t.notOk(queue.overlapped);
  t.equal(queue.queued.size, 30);
});

t.test('a refusal is told and tried again', async t => {
  const { queue, pending, log, reconciler } = setUp(t);
  pending.add(5);
  queue.failNext = 1;
  const queued = log.hear(/queued pending messages/);
  reconciler.start();
  await queued;
  t.equal(queue.queued.size, 5);
  t.match(log.matching(/will retry/), [{ level: 'warn', fields: { reason: 'refused' } }]);
});

t.test('once stopped it does nothing more', async t => {
  const { queue, pending, reconciler } = setUp(t);
  reconciler.start();
  await reconciler.stop();
  pending.add(5);
  queue.reconnect();
  await reconciler.runNow();
  t.equal(queue.queued.size, 0);
});
