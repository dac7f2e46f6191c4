import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** What Linux says about the memory and the time of a process (proc(5)). Sizes in MiB. */

/** Resident memory that is the process's own, the shares of shared pages counted in proportion. */
export function pssMib(pid: number): number {
  return field(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), 'Pss');
}

/**
 * Anonymous resident memory: heap, buffers, stacks. Resident memory as a whole also counts the pages of
 * the store's map that were read, which the kernel takes back when it needs them.
 */
export function anonymousMib(pid: number): number {
  return field(readFileSync(`/proc/${pid}/status`, 'utf8'), 'RssAnon');
}

/** Peak resident memory since the process began, or since the mark was reset. */
export function peakMib(pid: number): number {
  return field(readFileSync(`/proc/${pid}/status`, 'utf8'), 'VmHWM');
}

/** Seconds of processor that a process and its threads have used. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  // utime and stime, in ticks; Linux tells user space 100 a second on every architecture that Node runs on.
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Of a process, its children that have ended, and those that run. */
export function familyCpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  const ended = (Number(fields[13]) + Number(fields[14])) / 100;
  return childPids(pid).reduce((sum, child) => sum + cpuSeconds(child), cpuSeconds(pid) + ended);
}

/** Processes that a process has started itself, by id. */
export function childPids(pid: number): number[] {
  const tasks = readdirSync(`/proc/${pid}/task`);
  return tasks
    .flatMap(task => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' '))
    .filter(text => text !== '')
    .map(Number);
}

export function processName(pid: number): string {
  return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
}

export interface MemoryPeak {
  /** The kernel's own high-water mark of resident memory. */
  readonly residentMib: number;
  /** The highest of many samples of the anonymous part. */
  readonly anonymousMib: number;
}

const LOOK_MS = 20;

/** Samples a process from now on. The returned function ends that and returns the peak. */
export function watchMemory(pid: number): () => MemoryPeak {
  // 5 resets the high-water mark to what is resident now.
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  let peak = anonymousMib(pid);
  const look = (): void => {
    try {
      peak = Math.max(peak, anonymousMib(pid));
    } catch {
      // It has ended: whoever waits for it says why.
      clearInterval(timer);
    }
  };
  const timer = setInterval(look, LOOK_MS);
  return () => {
    clearInterval(timer);
    look();
    return { residentMib: peakMib(pid), anonymousMib: peak };
  };
}

function field(text: string, name: string): number {
  const kib = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1];
  if (kib === undefined) throw new Error(`/proc does not tell ${name}`);
  return Number(kib) / 1024;
}
