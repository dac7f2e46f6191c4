import type { Appliance } from '../appliance.js';
import { type Bench, type BenchContext, withAppliance } from '../bench.js';
import { runSendLoad, type SendFigures, type SendRun } from '../load/run-send-load.js';
import { compare, type Report, skipped, whole } from '../measure/report.js';
import { median } from '../measure/statistics.js';
import { startSmtpSink } from '../peers/peers.js';

const CLIENTS = 20;
const CONNECTIONS = 20;
const BYTES = 4096;

/** Sending with an idempotency key, including the durable reservation and the saved outcome. */
export const sendBench: Bench = {
  name: 'send',
  title: `keyed sends of 4 KB by ${CLIENTS} clients, in process and to smtp-sink, against nodemailer alone to the same sink`,
  run: measure,
};

type Way = 'local transport' | 'smarthost transport' | 'nodemailer alone';

async function measure({ isQuick, runs }: BenchContext): Promise<Report> {
  const sink = await startSmtpSink();
  if (sink === null) return skipped('smtp-sink is not installed');
  const figures: Record<Way, SendFigures[]> = {
    'local transport': [],
    'smarthost transport': [],
    'nodemailer alone': [],
  };
  const settings = {
    POSTERN_LIMITS_SENDS: '1000000',
    POSTERN_RELAY_TRANSPORT: 'smarthost',
    POSTERN_RELAY_SMARTHOST_HOST: '127.0.0.1',
    POSTERN_RELAY_SMARTHOST_PORT: `${sink.port}`,
    POSTERN_RELAY_SMARTHOST_TLS: 'none',
    POSTERN_RELAY_SMARTHOST_MAX_CONNECTIONS: `${CONNECTIONS}`,
  };
  try {
    await withAppliance(async appliance => {
      for (let number = 0; number < runs; number++) {
        const common: SendRun = {
          through: 'api',
          port: appliance.httpPort,
          path: appliance.sendPath,
          credential: appliance.credential,
          keyPrefix: `remote-${number}`,
          recipients: [sink.recipient],
          clients: CLIENTS,
          connections: CONNECTIONS,
          count: isQuick ? 300 : 4000,
          bytes: BYTES,
        };
        figures['smarthost transport'].push(await runOnDaemon(appliance, common));
        figures['nodemailer alone'].push(
          await runSendLoad({ ...common, through: 'nodemailer', port: sink.port }),
        );
        const local = { ...common, keyPrefix: `local-${number}`, recipients: [appliance.recipient] };
        figures['local transport'].push(await runOnDaemon(appliance, local));
        await appliance.untilAllReady();
      }
    }, settings);
  } finally {
    await sink.stop();
  }
  return report(figures);
}

/** The same load; the processor time is that of the daemon and its Redis. */
async function runOnDaemon(appliance: Appliance, run: SendRun): Promise<SendFigures> {
  const before = appliance.cpuSeconds();
  const figures = await runSendLoad(run);
  return { ...figures, cpuMs: ((appliance.cpuSeconds() - before) * 1000) / run.count };
}

function report(figures: Record<Way, SendFigures[]>): Report {
  const of = (way: Way, pick: (run: SendFigures) => number): number => median(figures[way].map(pick));
  const ratio = (way: Way) => of(way, run => run.perSecond) / of('nodemailer alone', run => run.perSecond);
  return {
    columns: ['', 'messages/s', 'p50 ms', 'p99 ms', 'CPU ms'],
    rows: (Object.keys(figures) as Way[]).map(way => [
      way,
      whole(of(way, run => run.perSecond)),
      of(way, run => run.p50Ms).toFixed(2),
      of(way, run => run.p99Ms).toFixed(2),
      of(way, run => run.cpuMs).toFixed(2),
    ]),
    notes: [
      'CPU ms: a message, of daemon and Redis (parsing what is delivered in process included), or of nodemailer',
    ],
    comparisons: [
      compare(
        'keyed sends through a smarthost',
        ratio('smarthost transport'),
        { atLeast: 0.5 },
        {
          unit: 'x',
          than: 'nodemailer alone',
          digits: 2,
        },
      ),
      compare(
        'keyed sends in process',
        ratio('local transport'),
        { atLeast: 0.5 },
        {
          unit: 'x',
          than: 'nodemailer alone',
          digits: 2,
        },
      ),
    ],
  };
}
