import fc from 'fast-check';
import t from 'tap';
import { NaiveIndex } from '../../../support/search/naive-index.js';
import { RealIndex } from '../../../support/search/real-index.js';
import { withHouse } from '../with-house.js';
import { SearchRun } from './search-run.js';
import { step } from './search-steps.js';
import { SearchedHouse } from './with-search.js';

/** Another seed in TEST_SEED looks elsewhere; the one of a failure looks at it again. */
const seed = Number(process.env.TEST_SEED ?? 20_260_115);
/** Looks for so long; by default for a number of runs, however long these take. */
const seconds = process.env.TEST_SECONDS === undefined ? null : Number(process.env.TEST_SECONDS);

for (const [kind, least] of [
  ['a plain index', 40],
  ['the index of the daemon', 10],
] as const) {
  t.test(
    `whatever happens to mail, and however far behind ${kind} is, searches find what is there`,
    async t => {
      t.comment(`seed ${seed}`);
      const house = await withHouse(t, { inboxLimit: 100_000 });
      const real = kind === 'a plain index' ? null : new RealIndex(house.store, house.clock);
      if (real !== null) t.teardown(() => real.stop());
      let [runs, asked] = [0, 0];
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 100, size: 'max' }), async steps => {
          runs += 1;
          const inboxes = [await house.addInbox(`one${runs}`), await house.addInbox(`two${runs}`)];
          const naive = new NaiveIndex();
          // So that short lists take many questions, too.
          if (runs % 2 === 0) naive.most = 2;
          const run =
            real === null
              ? new SearchRun(new SearchedHouse(house, naive), inboxes, 'known')
              : new SearchRun(new SearchedHouse(house, real), inboxes, 'unknown');
          for (const one of steps) await run.take(one);
          asked += run.asked;
          // A plain index is new for each run: it would have to take in what is left of this one.
          await (real ?? new NaiveIndex()).takeIn(house.store, house.account);
        }),
        {
          seed,
          endOnFailure: true,
          ...(seconds === null
            ? { numRuns: least }
            : { numRuns: 1_000_000, interruptAfterTimeLimit: seconds * 1000, markInterruptAsFailure: false }),
        },
      );
      t.ok(asked >= 50, `${runs} runs, ${asked} questions`);
    },
  );
}
