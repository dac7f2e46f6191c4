import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Test } from 'tap';
import { startFuzzBox } from './fuzz-box.js';
import type { FuzzOptions, FuzzReport } from './fuzz-report.js';
import { fuzzSessions } from './smtp-sessions.js';

/*
 * `npm run fuzz [-- --seed N] [--sessions N] [--messages N] [--seconds N]`: runs the listener and the parser on
 * generated input, up to these counts or this time. It prints the seed; the same seed makes the same input. The exit
 * code is 1 when an invariant was broken.
 */

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    sessions: { type: 'string', default: '5000' },
    messages: { type: 'string', default: '20000' },
    seconds: { type: 'string', default: '600' },
  },
});

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

async function main(): Promise<number> {
  const seed = Number(values.seed);
  const seconds = Number(values.seconds);
  say(`seed ${seed}`);
  const reports = new Map<string, FuzzReport>();
  const cleanUps: (() => Promise<void> | void)[] = [];
  const owner = { teardown: (cleanUp: () => Promise<void>) => cleanUps.push(cleanUp) } as unknown as Test;
  try {
    const sessions = Number(values.sessions);
    if (sessions > 0) {
      const { box, address } = await startFuzzBox(owner);
      reports.set(
        'sessions',
        await fuzzSessions({ box, address, seed, count: sessions, seconds, report: say }),
      );
    }
    const messages = Number(values.messages);
    const fuzzMessages = await loadMessageFuzzer();
    if (messages > 0 && fuzzMessages !== null) {
      reports.set('messages', await fuzzMessages({ seed, count: messages, seconds, report: say }));
    }
  } finally {
    for (const cleanUp of cleanUps) await cleanUp();
  }
  for (const [name, { tried, failures, figures }] of reports) {
    say(`${tried} ${name}: ${failures.length} failures ${JSON.stringify(figures)}`);
    for (const failure of failures.slice(0, 50)) say(`  ${failure}`);
  }
  const failed = [...reports.values()].some(({ failures }) => failures.length > 0);
  if (failed) say(`try again with --seed ${seed}`);
  return failed ? 1 : 0;
}

/** The fuzzer of the parser; null where it is not built. */
async function loadMessageFuzzer(): Promise<((options: FuzzOptions) => Promise<FuzzReport>) | null> {
  const url = new URL('./mime-messages.js', import.meta.url);
  if (!existsSync(url)) return null;
  const module = (await import(url.href)) as { fuzzMessages: (options: FuzzOptions) => Promise<FuzzReport> };
  return module.fuzzMessages;
}

process.exitCode = await main();
