import type { Appliance } from '../appliance.js';
import { type Bench, type BenchContext, withAppliance } from '../bench.js';
import { buildMessage } from '../load/bodies.js';
import { SmtpSession } from '../load/smtp-session.js';
import { compare, type Report } from '../measure/report.js';
import { percentile } from '../measure/statistics.js';

const BYTES = 75 * 1024;
/** The first messages run cold code and are not counted. */
const WARM_UP = 10;

/** How long until an agent can read a message that was just accepted, without other load. */
export const latencyBench: Bench = {
  name: 'latency',
  title: '75 KB at rest: from the reply to the final dot until it can be read',
  run: context => withAppliance(appliance => measure(context, appliance)),
};

async function measure({ isQuick }: BenchContext, appliance: Appliance): Promise<Report> {
  const rows: string[][] = [];
  let worst = 0;
  for (const body of ['text', 'attachment'] as const) {
    const wire = buildMessage(body, BYTES);
    const session = await SmtpSession.open(appliance.smtpPort);
    const latenciesMs: number[] = [];
    for (let sent = 0; sent < (isQuick ? 30 : 150); sent++) {
      await session.send(appliance.recipient, wire);
      const acceptedAt = performance.now();
      await appliance.untilAllReady(1);
      if (sent >= WARM_UP) latenciesMs.push(performance.now() - acceptedAt);
    }
    await session.close();
    const p50 = percentile(latenciesMs, 0.5);
    worst = Math.max(worst, p50);
    const figures = [p50, percentile(latenciesMs, 0.99), Math.max(...latenciesMs)];
    rows.push([body, ...figures.map(ms => ms.toFixed(1)), `${latenciesMs.length}`]);
  }
  return {
    columns: ['', 'p50 ms', 'p99 ms', 'max ms', 'messages'],
    rows,
    notes: [],
    comparisons: [
      compare('accepted to ready, 75 KB, at rest, median', worst, { atMost: 50 }, { unit: ' ms' }),
    ],
  };
}
