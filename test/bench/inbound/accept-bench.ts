import type { Appliance, Fared } from '../appliance.js';
import { type Bench, type BenchContext, withAppliance } from '../bench.js';
import { FARED_COLUMNS, faredCells } from '../fared-cells.js';
import { hasSmtpSource, howToGetPostfix, runSmtpSource } from '../load/smtp-source.js';
import { type Comparison, compare, type Report, skipped, times, whole } from '../measure/report.js';
import { median } from '../measure/statistics.js';
import { startHaraka } from '../peers/haraka.js';
import { startBareSmtpServer, startPostfix, startSmtpSink } from '../peers/peers.js';
import { PostfixPeer } from '../peers/postfix.js';
import type { Sink } from '../peers/sink.js';

type Target = 'postern' | 'postfix' | 'haraka' | 'smtp-server' | 'smtp-sink';

interface Scenario {
  readonly label: string;
  readonly bytes: number;
  readonly sessions: number;
  readonly isReused: boolean;
  /** Messages per run, so that a run takes a second or two. A peer without a count is left out. */
  readonly counts: Partial<Readonly<Record<Target, number>>>;
  /** Targets: at least this many times the rate of the peer. */
  readonly atLeast: Partial<Readonly<Record<Target, number>>>;
}

type Rates = Readonly<Record<Target, number | null>>;

const KIB = 1024;
const TARGETS: readonly Target[] = ['postern', 'postfix', 'haraka', 'smtp-server', 'smtp-sink'];
const PEER_NAMES: Readonly<Record<Exclude<Target, 'postern'>, string>> = {
  postfix: 'Postfix',
  haraka: 'Haraka (fsynced)',
  'smtp-server': 'smtp-server',
  'smtp-sink': 'smtp-sink',
};

const SCENARIOS: readonly Scenario[] = [
  scenario('4 KB, 1 session', 4 * KIB, 1, [400, 300, 0, 2500, 4000]),
  scenario('4 KB, 20 sessions', 4 * KIB, 20, [3000, 700, 1000, 5000, 12_000]),
  {
    ...scenario('4 KB, 100 sessions', 4 * KIB, 100, [5000, 700, 1500, 5000, 12_000]),
    atLeast: { postfix: 6, haraka: 3, 'smtp-sink': 0.5 },
  },
  scenario('75 KB, 1 session', 75 * KIB, 1, [250, 200, 0, 1500, 2500]),
  {
    ...scenario('75 KB, 20 sessions', 75 * KIB, 20, [1200, 500, 400, 2500, 5000]),
    atLeast: { postfix: 3.5, haraka: 4 },
  },
  scenario('75 KB, 100 sessions', 75 * KIB, 100, [1200, 500, 0, 2500, 5000]),
  {
    // Without Haraka, which looks up the name of each client and has no switch for that.
    ...scenario('4 KB, 20 sessions, one connection a message', 4 * KIB, 20, [2000, 700, 0, 300, 5000]),
    isReused: false,
    atLeast: { postfix: 2.5 },
  },
];

/** Durable acceptance compared with the peers, as a sender sees it, while parsing goes on. */
export const acceptBench: Bench = {
  name: 'accept',
  title: 'messages accepted a second (Postern: with parsing under way behind it)',
  async run(context) {
    if (!hasSmtpSource) return skipped(howToGetPostfix);
    return withAppliance(appliance => runBesidePeers(context, appliance));
  },
};

async function runBesidePeers(context: BenchContext, appliance: Appliance): Promise<Report> {
  const postfix = await startPostfix();
  const haraka = await startHaraka();
  const smtpServer = await startBareSmtpServer();
  const smtpSink = await startSmtpSink();
  const sinks: Record<Target, Sink | PostfixPeer | null> = {
    postern: null,
    postfix: typeof postfix === 'string' ? null : postfix,
    haraka: typeof haraka === 'string' ? null : haraka,
    'smtp-server': smtpServer,
    'smtp-sink': smtpSink,
  };
  const notes = [postfix, haraka].filter(peer => typeof peer === 'string');
  const rows: string[][] = [];
  const comparisons: Comparison[] = [];
  try {
    for (const one of SCENARIOS) {
      const measured = await measure(context, one, appliance, sinks);
      rows.push(rowOf(one.label, measured));
      comparisons.push(...compareWithPeers(one, measured.rates));
    }
  } finally {
    await Promise.all(Object.values(sinks).map(sink => sink?.stop()));
  }
  return { columns: COLUMNS, rows, notes, comparisons };
}

interface Measured {
  readonly rates: Rates;
  /** For the runs of Postern. */
  readonly runs: readonly number[];
  readonly fared: readonly Fared[];
  /**
   * Processor time of daemon and Redis per message, from its arrival until it can be read. Unlike rates, it is
   * meaningful on a busy machine too.
   */
  readonly cpuMicros: readonly number[];
}

async function measure(
  { isQuick, runs }: BenchContext,
  one: Scenario,
  appliance: Appliance,
  sinks: Readonly<Record<Target, Sink | PostfixPeer | null>>,
): Promise<Measured> {
  const rates: Record<Target, number[]> = {
    postern: [],
    postfix: [],
    haraka: [],
    'smtp-server': [],
    'smtp-sink': [],
  };
  const fared: Fared[] = [];
  const cpuMicros: number[] = [];
  for (let run = 0; run < runs; run++) {
    for (const target of TARGETS) {
      const fullCount = one.counts[target] ?? 0;
      if (fullCount === 0) continue;
      const count = isQuick ? Math.ceil(fullCount / 5) : fullCount;
      const to =
        target === 'postern' ? { port: appliance.smtpPort, recipient: appliance.recipient } : sinks[target];
      if (to === null) continue;
      const before = target === 'postern' ? appliance.accepted() : 0;
      const endWatch = target === 'postern' ? appliance.watch() : null;
      const cpuBefore = appliance.cpuSeconds();
      const seconds = await runSmtpSource({ ...one, count, port: to.port, recipient: to.recipient });
      rates[target].push(count / seconds);
      if (endWatch !== null) {
        fared.push(await endWatch());
        // Otherwise the backlog would slow down the next peer.
        await appliance.untilAllReady();
        cpuMicros.push(((appliance.cpuSeconds() - cpuBefore) / count) * 1e6);
        const accepted = appliance.accepted() - before;
        if (accepted !== count) throw new Error(`${accepted} of ${count} messages are in the inbox`);
      }
      if (to instanceof PostfixPeer) await to.untilIdle();
    }
  }
  const medians = Object.fromEntries(
    TARGETS.map(target => [target, rates[target].length === 0 ? null : median(rates[target])]),
  ) as Rates;
  return { rates: medians, runs: rates.postern, fared, cpuMicros };
}

const COLUMNS = [
  '',
  'Postern/s',
  'min-max',
  'Postfix/s',
  'Haraka/s',
  'smtp-server/s',
  'smtp-sink/s',
  'x Postfix',
  'x Haraka',
  'x smtp-server',
  'x smtp-sink',
  ...FARED_COLUMNS,
  'cpu us/message',
];

function rowOf(label: string, { rates, runs, fared, cpuMicros }: Measured): string[] {
  const postern = rates.postern ?? 0;
  const rate = (value: number | null): string => (value === null ? '-' : whole(value));
  return [
    label,
    whole(postern),
    `${whole(Math.min(...runs))}-${whole(Math.max(...runs))}`,
    rate(rates.postfix),
    rate(rates.haraka),
    rate(rates['smtp-server']),
    rate(rates['smtp-sink']),
    times(postern, rates.postfix),
    times(postern, rates.haraka),
    times(postern, rates['smtp-server']),
    times(postern, rates['smtp-sink']),
    ...faredCells(fared),
    whole(median(cpuMicros)),
  ];
}

function compareWithPeers({ label, atLeast }: Scenario, rates: Rates): Comparison[] {
  return TARGETS.flatMap(peer => {
    const bound = atLeast[peer];
    if (peer === 'postern' || bound === undefined) return [];
    const words = { unit: 'x', than: PEER_NAMES[peer], digits: 2 };
    return [compare(`durable accept, ${label}`, ratio(rates, peer), { atLeast: bound }, words)];
  });
}

/** Counts in the order of `TARGETS`. */
function scenario(label: string, bytes: number, sessions: number, counts: readonly number[]): Scenario {
  const byTarget = Object.fromEntries(TARGETS.map((target, at) => [target, counts[at] ?? 0]));
  return { label, bytes, sessions, isReused: true, counts: byTarget, atLeast: {} };
}

function ratio(rates: Rates, peer: Target): number | null {
  const value = rates[peer];
  return value === null || rates.postern === null ? null : rates.postern / value;
}
