import type { Appliance, Fared } from '../appliance.js';
import { type Bench, type BenchContext, withAppliance } from '../bench.js';
import { freePort } from '../child-process.js';
import { FARED_COLUMNS, faredCells } from '../fared-cells.js';
import { hasSmtpSource, howToGetPostfix, runSmtpSource } from '../load/smtp-source.js';
import { type Report, skipped, times, whole } from '../measure/report.js';
import { median } from '../measure/statistics.js';

const BYTES = 4096;
const COUNTS: readonly (readonly [sessions: number, count: number])[] = [
  [1, 300],
  [20, 2000],
  [100, 3000],
];

/** How much does parsing reduce the rate of acceptance? Measured without Redis, where nothing is parsed. */
export const unparsedBench: Bench = {
  name: 'unparsed',
  title: '4 KB accepted a second, with parsing under way and while Redis is away',
  async run(context) {
    if (!hasSmtpSource) return skipped(howToGetPostfix);
    const nobody = `redis://127.0.0.1:${await freePort()}`;
    const withoutRedis = { POSTERN_REDIS_MODE: 'external', POSTERN_REDIS_URL: nobody };
    return withAppliance(parsing =>
      withAppliance(holding => measure(context, parsing, holding), withoutRedis),
    );
  },
};

async function measure(
  { isQuick, runs }: BenchContext,
  parsing: Appliance,
  holding: Appliance,
): Promise<Report> {
  const rows: string[][] = [];
  for (const [sessions, fullCount] of COUNTS) {
    const count = isQuick ? fullCount / 5 : fullCount;
    const send = ({ smtpPort, recipient }: Appliance): Promise<number> =>
      runSmtpSource({ port: smtpPort, recipient, bytes: BYTES, sessions, count, isReused: true });
    const parsed: number[] = [];
    const held: number[] = [];
    const fared: Fared[] = [];
    for (let run = 0; run < runs; run++) {
      parsed.push(count / (await send(parsing)));
      await parsing.untilAllReady();
      const endWatch = holding.watch();
      held.push(count / (await send(holding)));
      fared.push(await endWatch());
    }
    rows.push([
      `${sessions} session${sessions === 1 ? '' : 's'}`,
      whole(median(parsed)),
      whole(median(held)),
      times(median(held), median(parsed)),
      ...faredCells(fared),
    ]);
  }
  return {
    columns: ['', 'parsing/s', 'unparsed/s', 'ratio', ...FARED_COLUMNS],
    rows,
    notes: ['memory and loop are those of the daemon without Redis'],
    comparisons: [],
  };
}
