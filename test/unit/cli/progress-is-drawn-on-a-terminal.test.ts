import t from 'tap';
import { barOf, startProgress } from '../../../src/cli/progress.js';

t.test('a bar says how far it is and how long it takes', async t => {
  t.equal(
    barOf('import', 250, 1_000, 10_000, '3 messages'),
    'import [######..................]  25%, 30 s left  3 messages',
  );
  t.equal(barOf('import', 2_000, 1_000, 10_000, ''), 'import [########################] 100%, 0 s left');
  t.equal(barOf('export', 2_048, null, 10_000, '1 messages'), 'export 2.0 KiB  1 messages');
});

t.test('it is drawn where somebody watches, and wiped away at the end', async t => {
  const written: string[] = [];
  const stderr = async (text: string | Uint8Array): Promise<void> => void written.push(String(text));
  for (const [isTerminal, isShown] of [
    [false, true],
    [true, false],
  ] as const) {
    const progress = startProgress(
      { stderr, terminals: { stdout: false, stderr: isTerminal } },
      { of: 'x', bytes: 10, isShown },
    );
    progress.add(5);
    await progress.end();
    t.same(written, []);
  }
  const progress = startProgress(
    { stderr, terminals: { stdout: false, stderr: true } },
    { of: 'x', bytes: 10, isShown: true },
  );
  progress.add(5);
  progress.add(5);
  await progress.end();
  t.match(written[0], /^\r\x1b\[Kx \[#{12}\.{12}\] {2}50%/);
  t.equal(written.at(-1), '\r\x1b[K');
});
