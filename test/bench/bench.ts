import { Appliance, type Mailbox, makeMailbox, removeMailbox } from './appliance.js';
import type { Report } from './measure/report.js';

export interface BenchContext {
  /** Small counts and one run: shows that everything works, not how fast it is. */
  readonly isQuick: boolean;
  /** How often everything is measured; medians are told. */
  readonly runs: number;
}

export interface Bench {
  /** How it is asked for on the command line. */
  readonly name: string;
  readonly title: string;
  run(context: BenchContext): Promise<Report>;
}

/** Gives `work` a data directory of its own and removes it afterwards. */
export async function withMailbox<Result>(work: (mailbox: Mailbox) => Promise<Result>): Promise<Result> {
  const mailbox = await makeMailbox();
  try {
    return await work(mailbox);
  } finally {
    removeMailbox(mailbox);
  }
}

/** Runs a Postern on a data directory for as long as `work` takes. */
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

/** Gives `work` a Postern with an empty inbox. */
export function withAppliance<Result>(
  work: (appliance: Appliance) => Promise<Result>,
  settings: Readonly<Record<string, string>> = {},
): Promise<Result> {
  return withMailbox(mailbox => withDaemon(mailbox, work, settings));
}
