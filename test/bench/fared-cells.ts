import type { Fared } from './appliance.js';
import { whole } from './measure/report.js';
import { median } from './measure/statistics.js';

/** A note for every bench that has a target for memory. */
export const MEMORY_NOTE =
  'targets are for anonymous memory (RssAnon); VmHWM counts pages of the mapped store too, which the kernel takes back';

export const FARED_COLUMNS = ['peak VmHWM/RssAnon MiB', 'loop p50/p99/max ms', 'busy/gc'] as const;

/** Table cells: peak memory, medians of the event loop's delay percentiles, longest block. */
export function faredCells(fared: readonly Fared[]): string[] {
  const of = (pick: (one: Fared) => number): number[] => fared.map(pick);
  const resident = Math.max(...of(one => one.memory.residentMib));
  const anonymous = Math.max(...of(one => one.memory.anonymousMib));
  const p50 = median(of(one => one.loop.p50Ms));
  const p99 = median(of(one => one.loop.p99Ms));
  const max = Math.max(...of(one => one.loop.maxMs));
  const busy = median(of(one => one.loop.busyShare));
  const gc = median(of(one => one.loop.gcShare));
  return [
    `${whole(resident)}/${whole(anonymous)}`,
    `${p50.toFixed(1)}/${p99.toFixed(1)}/${max.toFixed(0)}`,
    `${(busy * 100).toFixed(0)}%/${(gc * 100).toFixed(1)}%`,
  ];
}
