import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { runSteps } from './mailbox-run.js';
import { step } from './mailbox-steps.js';

/** Another seed in TEST_SEED looks elsewhere; the one of a failure looks at it again. */
const seed = Number(process.env.TEST_SEED ?? 20_260_115);
const seconds = Number(process.env.TEST_SECONDS ?? 12);

for (const [claim, isAged] of [
  ['a mailbox is what a list of all its messages would be, whatever happens to it', false],
  ['and so it is where its sets begin a new block', true],
] as const) {
  t.test(claim, async t => {
    t.comment(`seed ${seed}`);
    let runs = 0;
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 30, maxLength: 150, size: 'max' }),
      steps => {
        runs += 1;
        return runSteps(steps, { path: mkdtempSync(join(tmpdir(), 'postern-model-')), isAged });
      },
    );
    await fc.assert(property, {
      seed,
      numRuns: isAged ? 40 : 200,
      interruptAfterTimeLimit: seconds * 1000,
      markInterruptAsFailure: false,
    });
    t.ok(runs >= 5, `${runs} runs`);
  });
}
