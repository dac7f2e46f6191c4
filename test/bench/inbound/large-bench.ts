import type { Appliance, Fared } from '../appliance.js';
import { type Bench, type BenchContext, withAppliance } from '../bench.js';
import { FARED_COLUMNS, faredCells, MEMORY_NOTE } from '../fared-cells.js';
import type { BodyKind } from '../load/bodies.js';
import { runSmtpLoad } from '../load/run-smtp-load.js';
import { anonymousMib } from '../measure/process-memory.js';
import { type Comparison, compare, type Report } from '../measure/report.js';
import { median } from '../measure/statistics.js';

const MIB = 2 ** 20;
const COLUMNS = ['', 'accept ms', 'until ready ms', 'RssAnon + MiB', ...FARED_COLUMNS];

interface Case {
  readonly label: string;
  readonly body: BodyKind;
  readonly bytes: number;
}

const ORDINARY: Case = { label: '5 MB of ordinary lines', body: 'text', bytes: 5e6 };
const DOTS: Case = { label: '5 MB of dot-stuffed lines', body: 'dots', bytes: 5e6 };
const ATTACHMENT: Case = { label: '25 MiB, one attachment', body: 'attachment', bytes: 24.9 * MIB };
const TEXT: Case = { label: '25 MiB, one text', body: 'text', bytes: 24.9 * MIB };

interface Seen {
  readonly acceptMs: number;
  readonly untilReadyMs: number;
  readonly addedMib: number;
  readonly fared: Fared;
}

/** One large message after the other, without other load. */
export const largeBench: Bench = {
  name: 'large',
  title: 'one large message at a time, accepted and parsed',
  run: context => withAppliance(appliance => measure(context, appliance)),
};

async function measure({ isQuick, runs }: BenchContext, appliance: Appliance): Promise<Report> {
  const seen = new Map<Case, Seen[]>();
  const cases = [ORDINARY, DOTS, ATTACHMENT, TEXT];
  // A warm-up: cold code and a heap that has not grown yet must not be measured.
  for (const one of cases) await send(appliance, one);
  for (let run = 0; run < (isQuick ? 1 : runs); run++) {
    for (const one of cases) seen.set(one, [...(seen.get(one) ?? []), await send(appliance, one)]);
  }
  const of = (one: Case, pick: (each: Seen) => number): number => median((seen.get(one) ?? []).map(pick));
  const comparisons: Comparison[] = [
    compare(
      '5 MB of dot-stuffed lines, accepted',
      of(DOTS, each => each.acceptMs) / of(ORDINARY, each => each.acceptMs),
      { atMost: 3 },
      { unit: 'x', than: 'an ordinary 5 MB', digits: 2 },
    ),
  ];
  for (const one of [ATTACHMENT, TEXT]) {
    const each = seen.get(one) ?? [];
    const longestMs = Math.max(...each.map(({ fared }) => fared.loop.maxMs));
    const addedMib = Math.max(...each.map(({ addedMib }) => addedMib));
    comparisons.push(
      compare(`${one.label}: loop blocked at most`, longestMs, { atMost: 25 }, { unit: ' ms', digits: 0 }),
      compare(`${one.label}: anonymous memory added`, addedMib, { atMost: 100 }, { unit: ' MiB', digits: 0 }),
    );
  }
  const rows = cases.map(one => [
    one.label,
    of(one, each => each.acceptMs).toFixed(0),
    of(one, each => each.untilReadyMs).toFixed(0),
    of(one, each => each.addedMib).toFixed(0),
    ...faredCells((seen.get(one) ?? []).map(each => each.fared)),
  ]);
  return { columns: COLUMNS, rows, notes: [MEMORY_NOTE], comparisons };
}

async function send(appliance: Appliance, { body, bytes }: Case): Promise<Seen> {
  const before = anonymousMib(appliance.pid);
  const endWatch = appliance.watch();
  const run = {
    port: appliance.smtpPort,
    recipient: appliance.recipient,
    sessions: 1,
    count: 1,
    bytes,
    body,
  };
  const { latenciesMs } = await runSmtpLoad(run);
  const acceptedAt = performance.now();
  await appliance.untilAllReady();
  const untilReadyMs = performance.now() - acceptedAt;
  const fared = await endWatch();
  return { acceptMs: latenciesMs[0] ?? 0, untilReadyMs, addedMib: fared.memory.anonymousMib - before, fared };
}
