import t from 'tap';
import { QuestionQueue } from '../../../src/search/question-queue.js';

/** Answers questions one after the other, when it is told to. */
class Thread {
  readonly asked: string[] = [];
  readonly #open: (() => void)[] = [];

  ask(name: string): Promise<string> {
    this.asked.push(name);
    return new Promise(resolve => this.#open.push(() => resolve(name)));
  }

  async answer(): Promise<void> {
    this.#open.shift()?.();
    // Until whoever waited has gone on.
    await new Promise(resolve => setImmediate(resolve));
  }
}

t.test('who asks much waits behind who asks little', async t => {
  const [queue, thread] = [new QuestionQueue(), new Thread()];
  const busy = Array.from({ length: 8 }, (_, at) => queue.ask('busy', () => thread.ask(`busy ${at}`)));
  const one = queue.ask('one', () => thread.ask('one'));
  const two = queue.ask('two', () => thread.ask('two'));
  t.strictSame(thread.asked, ['busy 0', 'busy 1']);
  for (let at = 0; at < 10; at += 1) await thread.answer();
  t.strictSame(thread.asked.slice(2, 6), ['busy 2', 'one', 'two', 'busy 3']);
  t.strictSame(await Promise.all([...busy, one, two]), [...busy.map((_, at) => `busy ${at}`), 'one', 'two']);
});

t.test('an account has a share, all together have a bound, and what fails gives its place back', async t => {
  const [queue, thread] = [new QuestionQueue(), new Thread()];
  const open = Array.from({ length: 16 }, () => queue.ask('busy', () => thread.ask('busy')));
  t.equal(await queue.ask('busy', () => thread.ask('busy')), null);
  const others = Array.from({ length: 496 }, (_, at) => queue.ask(`other ${at}`, () => thread.ask('other')));
  t.equal(await queue.ask('late', () => thread.ask('late')), null);
  for (let at = 0; at < 512; at += 1) await thread.answer();
  t.equal((await Promise.all([...open, ...others])).length, 512);
  for (let at = 0; at < 20; at += 1) {
    await t.rejects(
      queue.ask('busy', async () => {
        throw new Error('failed');
      }),
      /failed/,
    );
  }
  const last = queue.ask('busy', () => thread.ask('last'));
  await thread.answer();
  t.equal(await last, 'last');
});
