import { renameSync, writeFileSync } from 'node:fs';
import {
  monitorEventLoopDelay,
  PerformanceObserver,
  type PerformanceObserverEntryList,
  performance,
} from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import type { LoopFigures } from './loop-figures.js';

/**
 * Loaded into the daemon with `--import`, so that the product needs no option for it. SIGUSR2 begins a measurement of
 * the event loop; the next SIGUSR2 ends it and writes the figures to BENCH_LOOP_FILE.
 */

/** The interval of the histogram's timer, which every delay that it reports includes. */
const RESOLUTION_MS = 2;

const file = process.env.BENCH_LOOP_FILE;
if (isMainThread && file !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let utilization = performance.eventLoopUtilization();
  let gcMs = 0;
  let isMeasuring = false;
  const countGc = (list: PerformanceObserverEntryList): void => {
    for (const { duration } of list.getEntries()) gcMs += duration;
  };
  const observer = new PerformanceObserver(countGc);
  const beyondTimer = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);

  process.on('SIGUSR2', () => {
    isMeasuring = !isMeasuring;
    if (isMeasuring) {
      delay.reset();
      delay.enable();
      gcMs = 0;
      observer.observe({ entryTypes: ['gc'] });
      utilization = performance.eventLoopUtilization();
      return;
    }
    delay.disable();
    observer.disconnect();
    const { active, idle } = performance.eventLoopUtilization(utilization);
    const figures: LoopFigures = {
      p50Ms: beyondTimer(delay.percentile(50)),
      p99Ms: beyondTimer(delay.percentile(99)),
      maxMs: beyondTimer(delay.max),
      busyShare: active / (active + idle),
      gcShare: gcMs / (active + idle),
    };
    // Renamed into place, so that the file is complete when it appears.
    writeFileSync(`${file}.part`, JSON.stringify(figures));
    renameSync(`${file}.part`, file);
  });
}
