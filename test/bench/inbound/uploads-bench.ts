import type { Appliance, Fared } from '../appliance.js';
import { type Bench, type BenchContext, withAppliance } from '../bench.js';
import { FARED_COLUMNS, faredCells, MEMORY_NOTE } from '../fared-cells.js';
import { runSmtpLoad, startSmtpLoad } from '../load/run-smtp-load.js';
import { compare, type Report } from '../measure/report.js';
import { median, percentile } from '../measure/statistics.js';

const MIB = 2 ** 20;
const SMALL = { sessions: 1, bytes: 4096, body: 'text' } as const;
/** As transmitted, just below the default limit of 25 MiB. */
const LARGE = { sessions: 20, bytes: 24.9 * MIB, body: 'attachment' } as const;

/** Does a small message wait behind large ones? */
export const uploadsBench: Bench = {
  name: 'uploads',
  title: 'one sender of 4 KB messages, at rest and while twenty senders send 25 MiB each',
  run: context => withAppliance(appliance => measure(context, appliance)),
};

async function measure({ isQuick, runs }: BenchContext, appliance: Appliance): Promise<Report> {
  const to = { port: appliance.smtpPort, recipient: appliance.recipient };
  const atRest: (readonly number[])[] = [];
  const beside: (readonly number[])[] = [];
  const fared: Fared[] = [];
  const mibPerSecond: number[] = [];
  for (let run = 0; run < runs; run++) {
    const idle = await runSmtpLoad({ ...to, ...SMALL, count: isQuick ? 200 : 800 });
    atRest.push(idle.latenciesMs);
    await appliance.untilAllReady();

    const endWatch = appliance.watch();
    const count = isQuick ? 20 : 40;
    const large = startSmtpLoad({ ...to, ...LARGE, count });
    const small = startSmtpLoad({ ...to, ...SMALL, count: Number.MAX_SAFE_INTEGER });
    const { seconds } = await large.figures;
    small.finish();
    beside.push((await small.figures).latenciesMs);
    fared.push(await endWatch());
    mibPerSecond.push((count * LARGE.bytes) / MIB / seconds);
    await appliance.untilAllReady();
  }
  const p99 = (latencies: readonly (readonly number[])[]): number =>
    median(latencies.map(of => percentile(of, 0.99)));
  const row = (
    name: string,
    latencies: readonly (readonly number[])[],
    rest: readonly string[],
  ): string[] => [
    name,
    median(latencies.map(of => percentile(of, 0.5))).toFixed(2),
    p99(latencies).toFixed(2),
    Math.max(...latencies.flat()).toFixed(0),
    `${latencies.flat().length}`,
    ...rest,
  ];
  return {
    columns: ['', 'p50 ms', 'p99 ms', 'max ms', 'messages', 'large MiB/s', ...FARED_COLUMNS],
    rows: [
      row('at rest', atRest, []),
      row('beside uploads', beside, [median(mibPerSecond).toFixed(0), ...faredCells(fared)]),
    ],
    notes: ['parsing of the large messages is under way meanwhile', MEMORY_NOTE],
    comparisons: [
      compare(
        'small accept while twenty 25 MiB uploads run, p99',
        p99(beside) / p99(atRest),
        { atMost: 8 },
        { unit: 'x', than: 'idle p99' },
      ),
      compare(
        'anonymous memory meanwhile',
        Math.max(...fared.map(one => one.memory.anonymousMib)),
        { atMost: 250 },
        { unit: ' MiB', digits: 0 },
      ),
    ],
  };
}
