import type { Appliance, Fared } from '../appliance.js';
import { type Bench, type BenchContext, withAppliance } from '../bench.js';
import { FARED_COLUMNS, faredCells } from '../fared-cells.js';
import { type HttpFigures, runHttpLoad } from '../load/run-http-load.js';
import { runSmtpLoad } from '../load/run-smtp-load.js';
import { compare, type Report, whole } from '../measure/report.js';
import { median } from '../measure/statistics.js';
import { startHelloServer } from '../peers/peers.js';

const CONNECTIONS = 50;
const MESSAGES = 300;

/** What agents do most often: list the newest page of messages. */
export const httpBench: Bench = {
  name: 'http',
  title: `newest page of 20 over HTTP, authenticated, ${CONNECTIONS} connections, against a hello world on node:http`,
  run: context => withAppliance(appliance => measure(context, appliance)),
};

async function measure({ isQuick, runs }: BenchContext, appliance: Appliance): Promise<Report> {
  const to = { port: appliance.smtpPort, recipient: appliance.recipient };
  await runSmtpLoad({ ...to, sessions: 4, count: MESSAGES, bytes: 4096, body: 'text' });
  await appliance.untilAllReady();
  const hello = await startHelloServer();
  const load = { connections: CONNECTIONS, durationMs: isQuick ? 1000 : 3000 };
  const lists: HttpFigures[] = [];
  const hellos: HttpFigures[] = [];
  const fared: Fared[] = [];
  const { credential, httpPort, listPath } = appliance;
  try {
    for (let run = 0; run < runs; run++) {
      const endWatch = appliance.watch();
      lists.push(await runHttpLoad({ ...load, port: httpPort, path: listPath, credential }));
      fared.push(await endWatch());
      hellos.push(await runHttpLoad({ ...load, port: hello.port, path: '/', credential: null }));
    }
  } finally {
    await hello.stop();
  }
  const of = (runs: readonly HttpFigures[], pick: (run: HttpFigures) => number): number =>
    median(runs.map(pick));
  const row = (name: string, runs: readonly HttpFigures[], rest: readonly string[]): string[] => [
    name,
    whole(of(runs, run => run.perSecond)),
    of(runs, run => run.p50Ms).toFixed(2),
    of(runs, run => run.p99Ms).toFixed(2),
    whole(of(runs, run => run.bodyBytes)),
    ...rest,
  ];
  return {
    columns: ['', 'requests/s', 'p50 ms', 'p99 ms', 'bytes', ...FARED_COLUMNS],
    rows: [row('list of 20', lists, faredCells(fared)), row('hello world', hellos, [])],
    notes: [],
    comparisons: [
      compare(
        'list of 20 over HTTP, 50 connections',
        of(lists, run => run.perSecond) / of(hellos, run => run.perSecond),
        { atLeast: 0.5 },
        { unit: 'x', than: 'hello world', digits: 2 },
      ),
      compare(
        'list of 20 over HTTP, p99',
        of(lists, run => run.p99Ms) / of(hellos, run => run.p99Ms),
        { atMost: 3 },
        { unit: 'x', than: "hello world's", digits: 2 },
      ),
    ],
  };
}
