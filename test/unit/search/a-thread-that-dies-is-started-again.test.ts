import t from 'tap';
import { joinWords } from '../../../src/domain/message-words.js';
import { AccountIndex } from '../../../src/search/account-index.js';
import { indexPath } from '../../../src/search/open-indexes.js';
import { IndexThread } from '../../../src/search/thread-life.js';
import { dataDirectory } from '../store/with-store.js';
import { silent } from '../usecases/with-house.js';

t.test('whoever asked is told that it failed, and the next one is answered', async t => {
  const directory = dataDirectory(t);
  const index = AccountIndex.create(indexPath(directory, 'account'), 'account');
  index.apply([{ row: 1, words: Buffer.from(joinWords({ subject: ['a'], body: ['b'] })) }], {
    from: 0,
    to: 7,
  });
  index.close();
  const lines: string[] = [];
  const log = { ...silent, error: (_: object, message: string) => void lines.push(message) };
  const thread = new IndexThread({ setup: { directory, role: 'find', maxOpen: 2 }, log });
  thread.start();
  t.teardown(() => thread.stop());
  const ask = () =>
    thread.ask({
      kind: 'find',
      accountId: 'account',
      mark: 7,
      terms: [{ words: ['b'], isPrefix: false }],
      from: 0,
      to: 9,
      isDescending: true,
      limit: 5,
    });
  t.match(await ask(), { kind: 'found', rows: Float64Array.of(1), isWhole: true });
  // Nobody asks that; it stands for whatever ends a thread.
  const fatal = thread.ask({ kind: 'nonsense' } as unknown as Parameters<typeof thread.ask>[0]);
  const beside = ask();
  t.match(await fatal, { kind: 'failed' });
  t.match(await beside, { kind: 'failed' });
  t.match(lines, [/thread of the search index ended/]);
  for (let looks = 0; looks < 1_000; looks += 1) {
    const answer = await ask();
    if (answer.kind === 'found') break;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  t.match(await ask(), { kind: 'found', rows: Float64Array.of(1) });
});
