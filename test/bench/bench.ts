import { Appliance, type Mailbox, makeMailbox, removeMailbox } from './appliance.js';
import type { Report } from './measure/report.js';

export interface BenchContext {
  /** Small counts and a single run: shows that everything works, not how fast it is. */
  readonly isQuick: boolean;
  /** How often everything is measured; the report has the medians. */
  readonly runs: number;
}

export interface Bench {
  /** Its name on the command line. */
  readonly name: string;
  readonly title: string;
  run(context: BenchContext): Promise<Report>;
}

/** Calls `work` with a new data directory, which is removed afterwards. */
export async function withMailbox<Result>(work: (mailbox: Mailbox) => Promise<Result>): Promise<Result> {
  const mailbox = await makeMailbox();
  try {
    return await work(mailbox);
  } finally {
    removeMailbox(mailbox);
  }
}

/** Runs a Postern on a data directory while `work` runs. */
export async function withDaemon<Result>(
  mailbox: Mailbox,
  work: (appliance: Appliance) => Promise<Result>,
  settings: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const appliance = await Appliance.start(mailbox, settings);
  try {
    return await work(appliance);
  } finally {
    await appliance.stop();
  }
}

/** Calls `work` with a running Postern that has an empty inbox. */
export function withAppliance<Result>(
  work: (appliance: Appliance) => Promise<Result>,
  settings: Readonly<Record<string, string>> = {},
): Promise<Result> {
  return withMailbox(mailbox => withDaemon(mailbox, work, settings));
}
