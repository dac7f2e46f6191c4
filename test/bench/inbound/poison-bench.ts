import { setTimeout as delay } from 'node:timers/promises';
import { ApiClient } from '../../support/box/api-client.js';
import { sha256 } from '../../support/letters/letters.js';
import type { Appliance, Fared } from '../appliance.js';
import { type Bench, type BenchContext, withAppliance } from '../bench.js';
import { FARED_COLUMNS, faredCells } from '../fared-cells.js';
import { type OrdinaryFigures, startOrdinaryTraffic } from '../load/ordinary-traffic.js';
import { runPoisonLoad, type SentPoison } from '../load/run-poison-load.js';
import { runSmtpLoad } from '../load/run-smtp-load.js';
import { compare, type Report } from '../measure/report.js';
import { percentile } from '../measure/statistics.js';

const KIB = 1024;
const MIB = 1024 * KIB;
/** The sizes of each shape, a hundred messages in all. The set is sent only once, because it repeats shapes in sizes. */
const FULL = { sizes: [64 * KIB, MIB, 4 * MIB], largest: 4 };
const QUICK = { sizes: [64 * KIB, MIB], largest: 1 };
const WARM_UP = 200;
/** The minimum time of ordinary traffic, so that there is something to compare with. */
const WATCH_MS = 3_000;

interface Seen {
  readonly poison: readonly SentPoison[];
  readonly failed: readonly string[];
  readonly settledSeconds: number;
  readonly ordinary: OrdinaryFigures;
  readonly fared: Fared;
}

/** Does hostile mail delay other mail? */
export const poisonBench: Bench = {
  name: 'poison',
  title: 'hostile messages parsed, while ordinary mail comes in and lists are read',
  run: context => withAppliance(appliance => measure(context, appliance)),
};

async function measure({ isQuick }: BenchContext, appliance: Appliance): Promise<Report> {
  const to = { port: appliance.smtpPort, recipient: appliance.recipient };
  await runSmtpLoad({ ...to, sessions: 2, count: WARM_UP, bytes: 4096, body: 'text' });
  await appliance.untilAllReady();
  const atRest = await observe(appliance, async () => []);
  const beside = await observe(appliance, () => runPoisonLoad({ ...to, ...(isQuick ? QUICK : FULL) }));
  return toReport(atRest, beside);
}

async function observe(
  appliance: Appliance,
  sendPoison: () => Promise<readonly SentPoison[]>,
): Promise<Seen> {
  const endWatch = appliance.watch();
  const endTraffic = startOrdinaryTraffic(appliance);
  const startedAt = performance.now();
  const poison = await sendPoison();
  await appliance.untilAllSettled();
  const settledSeconds = (performance.now() - startedAt) / 1000;
  await delay(Math.max(0, WATCH_MS - settledSeconds * 1000));
  const ordinary = await endTraffic();
  const fared = await endWatch();
  return { poison, failed: await check(appliance, poison), settledSeconds, ordinary, fared };
}

/** Throws unless all messages are settled with intact raw bytes. Names those that could not be parsed. */
async function check(appliance: Appliance, poison: readonly SentPoison[]): Promise<string[]> {
  const api = new ApiClient(() => appliance.httpPort, appliance.credential);
  const failed: string[] = [];
  for (const { name, id, sha256: expected } of poison) {
    const status = appliance.statusOf(id);
    if (status !== 'ready' && status !== 'failed') throw new Error(`${name} is ${status}`);
    if (status === 'failed') failed.push(name);
    if (sha256(await api.raw(id)) !== expected) throw new Error(`${name}: its raw bytes have changed`);
  }
  return failed;
}

function toReport(atRest: Seen, beside: Seen): Report {
  const { poison, failed, settledSeconds, fared } = beside;
  const mib = poison.reduce((sum, { bytes }) => sum + bytes, 0) / MIB;
  const row = (name: string, { ordinary, fared }: Seen): string[] => [
    name,
    spread(ordinary.acceptMs),
    spread(ordinary.readyMs),
    `${ordinary.readyMs.length}`,
    spread(ordinary.listMs),
    ...faredCells([fared]),
  ];
  return {
    columns: ['', 'accepted ms', 'until ready ms', 'letters', 'list ms', ...FARED_COLUMNS],
    rows: [row('at rest', atRest), row('beside poison', beside)],
    notes: [
      'milliseconds as p50/p99/max, of ordinary letters of 4 KB and of lists of 20',
      `${poison.length} hostile messages, ${mib.toFixed(0)} MiB, settled in ${settledSeconds.toFixed(1)} s: ` +
        `${poison.length - failed.length} ready, ${failed.length} failed, all raw bytes intact`,
      ...failed.map(name => `failed: ${name}`),
    ],
    comparisons: [
      compare(
        'main loop delay while hostile messages are parsed, p99',
        fared.loop.p99Ms,
        { atMost: 50 },
        { unit: ' ms' },
      ),
    ],
  };
}

function spread(values: readonly number[]): string {
  const figures = [percentile(values, 0.5), percentile(values, 0.99), Math.max(...values)];
  return figures.map(ms => ms.toFixed(ms < 10 ? 1 : 0)).join('/');
}
