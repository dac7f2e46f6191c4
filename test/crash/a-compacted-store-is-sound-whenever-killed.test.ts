import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { verifyStore } from '../../src/store/verify/verify-store.js';
import { createAgent } from '../support/box/agents.js';
import { type PosternBox, packageRoot, startBox } from '../support/box/postern-box.js';
import { isAtRest, openStore, readFacts, untilFacts } from '../support/box/store-facts.js';
import { writeLetter } from '../support/letters/letters.js';
import { deliver } from '../support/smtp/deliver.js';

const MIB = 2 ** 20;
/** Steps before the copy begins: opening the store, and taking it. */
const FIRST_STEP = 2;
/** More than there are. */
const MAX_STEPS = 40;

t.test('whenever a compaction is killed one whole store is there, and the next one goes through', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const ids: string[] = [];
  for (let n = 0; n < 24; n++) ids.push(await deliver(box, agent.address, writeLetter({ bytes: 500_000 })));
  for (const id of ids) await agent.api.finished(id);
  const gone = ids.splice(0, 18);
  for (const id of gone) await agent.api.delete(`/v1/messages/${id}`);
  await untilFacts(box, isAtRest);
  t.match(await box.cli('compact'), { code: 1, stderr: /another postern daemon .* Stop it first/ });
  await box.stop();
  const file = join(box.dataDir, 'store/data.mdb');
  const before = statSync(file).size;

  const isWhole = async (when: string): Promise<void> => {
    const store = openStore(box);
    const { faults } = verifyStore(store);
    const found = readFacts(store).messages.map(({ id }) => id as string);
    await store.close();
    t.strictSame([faults, found.sort()], [[], [...ids].sort()], when);
  };

  const half = startCompacting(box);
  while (half.exitCode === null && !isBegun(box)) await delay(1);
  half.kill('SIGKILL');
  await once(half, 'exit');
  await isWhole('killed in the middle of the copy');
  t.equal(statSync(file).size, before, 'the file is still the old one');

  let steps = 0;
  for (let ended = false; !ended && steps < MAX_STEPS; ) {
    steps += 1;
    const child = startCompacting(box, FIRST_STEP + steps);
    const [code] = (await once(child, 'exit')) as [number | null];
    ended = code === 0;
    await isWhole(ended ? 'compacted' : `killed before step ${steps}`);
  }
  t.ok(steps > 6 && steps < MAX_STEPS, `it was killed at ${steps - 1} points`);
  t.ok(statSync(file).size < before / 2, `${before >> 20} MiB became ${statSync(file).size >> 20}`);
  t.notOk(existsSync(join(box.dataDir, 'store/compact.unfinished')), 'nothing is left of the copies');

  await box.start();
  for (const id of ids) t.equal((await agent.api.detail(id)).processing_status, 'ready');
  const late = await deliver(box, agent.address, writeLetter());
  await agent.api.finished(late);
  await box.stop();

  const other = mkdtempSync(join(tmpdir(), 'other-disk-'));
  t.teardown(() => rmSync(other, { recursive: true, force: true }));
  t.equal((await box.cli('compact', '--to', join(other, 'data'))).code, 0);
  t.match(await box.cli('verify', join(other, 'data')), { code: 0, stdout: /sound +(yes|true)/ });
  t.match(await box.cli('compact', '--to', join(other, 'data')), { code: 1, stderr: /already/ });
  t.ok(statSync(join(other, 'data/store/data.mdb')).size < 16 * MIB);
});

/** @param killAtStep see `killed-at-a-step.ts` */
function startCompacting(box: PosternBox, killAtStep?: number): ChildProcess {
  const preload = `--import=file://${join(import.meta.dirname, 'killed-at-a-step.js')}`;
  const env = killAtStep === undefined ? {} : { NODE_OPTIONS: preload, KILL_AT_STEP: `${killAtStep}` };
  const script = [join(packageRoot, 'bin/postern'), '--config', join(box.folder, 'postern.toml'), 'compact'];
  return spawn(process.execPath, script, { cwd: box.folder, env: { ...box.env, ...env }, stdio: 'ignore' });
}

/** Has the copy got bytes, and not all of them? */
function isBegun(box: PosternBox): boolean {
  const copy = join(box.dataDir, 'store/compact.unfinished/data.mdb');
  return (statSync(copy, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
