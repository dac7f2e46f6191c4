/** Hears what a unit of work was about, and what has happened in it, once for each time. */
export type CommitListener = (topics: ReadonlySet<string>, happened: readonly string[]) => void;

export const NOTHING_HAPPENED: readonly string[] = [];

/** Snapshots that are held, by any process: pages that a later commit has freed are not used again before them. */
export interface HeldSnapshots {
  readonly count: number;
  /** By how many commits the oldest is behind; 0 when none is held. */
  readonly oldestCommits: number;
  /** Names the oldest for as long as it is the same; empty when none is held. */
  readonly oldest: string;
}

/** A line a reader: its pid, its thread and the commit that it sees, `-` when it sees none. */
const READER = /^ *(\d+) +([0-9a-f]+) +(\d+)\s*$/gm;

/** @param list what LMDB says of its readers */
export function readHeldSnapshots(list: string, lastCommit: number): HeldSnapshots {
  const held = [...list.matchAll(READER)].map(([line, , , commit]) => ({
    name: line.trim(),
    commit: Number(commit),
  }));
  const [oldest] = held.sort((a, b) => a.commit - b.commit);
  return {
    count: held.length,
    oldestCommits: oldest === undefined ? 0 : Math.max(0, lastCommit - oldest.commit),
    oldest: oldest?.name ?? '',
  };
}
