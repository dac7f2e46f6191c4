import type { Appliance, Fared } from '../appliance.js';
import { type Bench, type BenchContext, withAppliance } from '../bench.js';
import { FARED_COLUMNS, faredCells } from '../fared-cells.js';
import { hasSmtpSource, howToGetPostfix, runSmtpSource } from '../load/smtp-source.js';
import { compare, type Report, skipped, times, whole } from '../measure/report.js';
import { median } from '../measure/statistics.js';
import { startPostfix } from '../peers/peers.js';
import { PostfixPeer } from '../peers/postfix.js';

const LOAD = { bytes: 4096, sessions: 20, isReused: true } as const;
const COUNTS = { postern: 6000, postfix: 1200 } as const;

interface Run {
  readonly acceptedPerSecond: number;
  /** Number of messages divided by the time until the last one could be read. */
  readonly visiblePerSecond: number;
}

/** From acceptance until a message is parsed, indexed and readable, compared with Postfix and its maildir. */
export const visibleBench: Bench = {
  name: 'visible',
  title: '4 KB, 20 sessions: until the last message can be read',
  async run(context) {
    if (!hasSmtpSource) return skipped(howToGetPostfix);
    return withAppliance(appliance => measure(context, appliance));
  },
};

async function measure({ isQuick, runs }: BenchContext, appliance: Appliance): Promise<Report> {
  const share = isQuick ? 5 : 1;
  const postfix = await startPostfix();
  const ours: Run[] = [];
  const theirs: Run[] = [];
  const fared: Fared[] = [];
  const cpuMicros: number[] = [];
  try {
    for (let run = 0; run < runs; run++) {
      const endWatch = appliance.watch();
      const cpuBefore = appliance.cpuSeconds();
      const sent = COUNTS.postern / share;
      ours.push(await time(sent, toPostern(appliance), () => appliance.untilAllReady()));
      cpuMicros.push(((appliance.cpuSeconds() - cpuBefore) / sent) * 1e6);
      fared.push(await endWatch());
      if (typeof postfix === 'string') continue;
      const before = postfix.delivered();
      const count = COUNTS.postfix / share;
      theirs.push(await time(count, postfix, () => postfix.untilDelivered(before + count)));
    }
  } finally {
    if (postfix instanceof PostfixPeer) await postfix.stop();
  }
  return toReport(ours, theirs, fared, [
    `${whole(median(cpuMicros))} us of CPU a message, of Postern and its Redis`,
    ...(typeof postfix === 'string' ? [postfix] : []),
  ]);
}

function toPostern({ smtpPort, recipient }: Appliance) {
  return { port: smtpPort, recipient };
}

async function time(
  count: number,
  to: { readonly port: number; readonly recipient: string },
  untilVisible: () => Promise<void>,
): Promise<Run> {
  const startedAt = performance.now();
  const seconds = await runSmtpSource({ ...LOAD, count, port: to.port, recipient: to.recipient });
  await untilVisible();
  return {
    acceptedPerSecond: count / seconds,
    visiblePerSecond: count / ((performance.now() - startedAt) / 1000),
  };
}

function toReport(
  ours: readonly Run[],
  theirs: readonly Run[],
  fared: readonly Fared[],
  notes: readonly string[],
): Report {
  const visible = (runs: readonly Run[]): number | null =>
    runs.length === 0 ? null : median(runs.map(run => run.visiblePerSecond));
  const row = (name: string, runs: readonly Run[], rest: readonly string[]): string[] => [
    name,
    whole(median(runs.map(run => run.acceptedPerSecond))),
    whole(visible(runs) ?? 0),
    ...rest,
  ];
  const postern = visible(ours) ?? 0;
  const postfix = visible(theirs);
  return {
    columns: ['', 'accepted/s', 'readable/s', 'x Postfix', ...FARED_COLUMNS],
    rows: [
      row('Postern', ours, [times(postern, postfix), ...faredCells(fared)]),
      ...(theirs.length === 0 ? [] : [row('Postfix to maildir', theirs, [])]),
    ],
    notes,
    comparisons: [
      compare(
        'accepted, parsed, indexed and visible, 4 KB',
        postfix === null ? null : postern / postfix,
        { atLeast: 3 },
        { unit: 'x', than: 'Postfix to maildir', digits: 2 },
      ),
    ],
  };
}
