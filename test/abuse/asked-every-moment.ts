import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** Asks `/healthz` every ten milliseconds; `stop` gives the longest time without an answer, in milliseconds. */
export function askEveryMoment(port: number): { stop(): Promise<number> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let isOver = false;
  let longestMs = 0;
  const asking = (async () => {
    while (!isOver) {
      const startMs = performance.now();
      await new Promise<void>(resolve => {
        const outgoing = request({ port, path: '/healthz', agent }, response => {
          response.resume().once('close', resolve);
        });
        outgoing.once('error', () => resolve());
        outgoing.end();
      });
      longestMs = Math.max(longestMs, performance.now() - startMs);
      await delay(10);
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await asking;
      agent.destroy();
      return longestMs;
    },
  };
}
