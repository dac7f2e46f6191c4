import { setTimeout as delay } from 'node:timers/promises';
import type { Appliance } from '../appliance.js';
import { type Bench, type BenchContext, withDaemon, withMailbox } from '../bench.js';
import { runSmtpLoad } from '../load/run-smtp-load.js';
import { anonymousMib, cpuSeconds, peakMib, pssMib } from '../measure/process-memory.js';
import { compare, type Report } from '../measure/report.js';
import { median } from '../measure/statistics.js';

const MESSAGES = 2000;
/** By then the work of the start is done. */
const SETTLE_MS = 3_000;

/** What the idle appliance needs, and how fast it starts. */
export const idleBench: Bench = {
  name: 'idle',
  title: `idle with ${MESSAGES} messages, and start to ready`,
  run: context =>
    withMailbox(async mailbox => {
      await withDaemon(mailbox, fill);
      const startsMs: number[] = [];
      for (let run = 1; run < context.runs; run++) {
        startsMs.push(await withDaemon(mailbox, async ({ startMs }) => startMs));
      }
      return withDaemon(mailbox, appliance => measure(context, appliance, [...startsMs, appliance.startMs]));
    }),
};

async function fill(appliance: Appliance): Promise<void> {
  const to = { port: appliance.smtpPort, recipient: appliance.recipient };
  await runSmtpLoad({ ...to, sessions: 20, count: MESSAGES, bytes: 4096, body: 'text' });
  await appliance.untilAllReady();
}

async function measure(
  { isQuick }: BenchContext,
  appliance: Appliance,
  startsMs: readonly number[],
): Promise<Report> {
  await delay(SETTLE_MS);
  const seconds = isQuick ? 3 : 10;
  const [daemon, redis] = await Promise.all([
    observe(appliance.pid, seconds),
    observe(appliance.redisPid, seconds),
  ]);
  const row = (name: string, { pss, anonymous, peak, share }: Observed): string[] => [
    name,
    pss.toFixed(0),
    anonymous.toFixed(0),
    Number.isNaN(peak) ? '' : peak.toFixed(0),
    `${(share * 100).toFixed(2)}%`,
  ];
  const both = {
    pss: daemon.pss + redis.pss,
    anonymous: daemon.anonymous + redis.anonymous,
    // Two peaks cannot be added: they need not have been at the same time.
    peak: Number.NaN,
    share: daemon.share + redis.share,
  };
  const startS = median(startsMs) / 1000;
  return {
    columns: ['', 'PSS MiB', 'RssAnon MiB', 'VmHWM MiB', 'of a core'],
    rows: [row('daemon', daemon), row('redis', redis), row('both', both)],
    notes: [
      'the target is for PSS, which counts code and pages of the mapped store besides anonymous memory (RssAnon)',
      `start to ready: ${startsMs.map(ms => ms.toFixed(0)).join(', ')} ms`,
    ],
    comparisons: [
      compare('idle appliance, memory (PSS)', both.pss, { atMost: 150 }, { unit: ' MiB', digits: 0 }),
      compare(
        'idle appliance, processor',
        both.share * 100,
        { atMost: 1.5 },
        { unit: '% of a core', digits: 2 },
      ),
      compare(`start to ready, ${MESSAGES} messages`, startS, { atMost: 2 }, { unit: ' s', digits: 2 }),
    ],
  };
}

interface Observed {
  readonly pss: number;
  readonly anonymous: number;
  readonly peak: number;
  readonly share: number;
}

async function observe(pid: number, seconds: number): Promise<Observed> {
  const before = cpuSeconds(pid);
  const startedAt = performance.now();
  await delay(seconds * 1000);
  const elapsed = (performance.now() - startedAt) / 1000;
  return {
    pss: pssMib(pid),
    anonymous: anonymousMib(pid),
    peak: peakMib(pid),
    share: (cpuSeconds(pid) - before) / elapsed,
  };
}
