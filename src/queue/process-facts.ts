import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What Linux tells of a process (proc(5)); null when it is gone or not ours to see. */
export interface ProcessFacts {
  readonly pid: number;
  readonly name: string;
  readonly parentPid: number;
  /** Clock ticks since boot: with the pid, this names one process for good. */
  readonly startedAt: number;
  readonly isZombie: boolean;
}

export function readProcess(pid: number): ProcessFacts | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name stands in parentheses and may contain anything, parentheses too.
    const nameEnd = stat.lastIndexOf(')');
    const fields = stat.slice(nameEnd + 2).split(' ');
    return {
      pid,
      name: stat.slice(stat.indexOf('(') + 1, nameEnd),
      isZombie: fields[0] === 'Z' || fields[0] === 'X',
      parentPid: Number(fields[1]),
      startedAt: Number(fields[19]),
    };
  } catch {
    return null;
  }
}

/** The processes with this name that work in this folder (a real path). */
export function findProcesses(name: string, folder: string): ProcessFacts[] {
  const found: ProcessFacts[] = [];
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const facts = readProcess(Number(entry));
    if (facts === null || facts.isZombie || facts.name !== name) continue;
    try {
      if (readlinkSync(`/proc/${entry}/cwd`) === folder) found.push(facts);
    } catch {
      // Ended meanwhile, or another user's.
    }
  }
  return found;
}

/** True while exactly this process lives: a pid that was given to another one does not count. */
export function isAlive(process: Pick<ProcessFacts, 'pid' | 'startedAt'>): boolean {
  const now = readProcess(process.pid);
  return now !== null && !now.isZombie && now.startedAt === process.startedAt;
}
