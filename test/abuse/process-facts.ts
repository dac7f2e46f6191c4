import { readdirSync, readFileSync } from 'node:fs';

/** Memory of another process that is its own: the store's file, mapped into it, is not counted. */
export function privateMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
}

export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Watches the memory of a process; `stop` gives the most that was seen, in MiB above the start. */
export function watchGrowth(pid: number): { stop(): number } {
  const startMib = privateMib(pid);
  let mostMib = startMib;
  const look = () => {
    mostMib = Math.max(mostMib, privateMib(pid));
  };
  const timer = setInterval(look, 20).unref();
  return {
    stop: () => {
      clearInterval(timer);
      look();
      return mostMib - startMib;
    },
  };
}
