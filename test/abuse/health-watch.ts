import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** What the watch has seen between `begin`, to which it says `begun`, and `end`. */
export interface Stalls {
  /** How often /healthz was answered. */
  readonly answers: number;
  /** The longest time that one answer took. */
  readonly longestMs: number;
}

/**
 * A process of its own that asks /healthz again and again, every ten milliseconds: how long an answer takes is how long
 * the event loop of the daemon was held. Its argument is the port.
 */
const PAUSE_MS = 10;
const port = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true });

let answers = 0;
let longestMs = 0;
process.on('message', message => {
  if (message === 'begin') {
    answers = 0;
    longestMs = 0;
    process.send?.('begun');
    return;
  }
  // The answer that is waited for now counts as well, and one more: what is over in a moment sees no other.
  void asked.then(ask).then(() => process.send?.({ answers, longestMs } satisfies Stalls));
});

async function ask(): Promise<void> {
  const startedAt = performance.now();
  await new Promise<void>((resolve, reject) => {
    get({ port, path: '/healthz', agent }, response => {
      response.resume().on('end', resolve);
    }).on('error', reject);
  });
  answers++;
  longestMs = Math.max(longestMs, performance.now() - startedAt);
}

let asked = ask();
await asked;
process.send?.({ answers, longestMs } satisfies Stalls);
while (process.connected) {
  asked = ask();
  await asked;
  await delay(PAUSE_MS);
}
