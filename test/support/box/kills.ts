import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import type { PosternBox } from './postern-box.js';

export interface Kills {
  readonly kills: number;
  /** A kill comes at a random moment within this after the work: within whatever is being done. */
  readonly withinMs: number;
  /** What goes on before a kill, counted from 1. It may give what is to be done right after it. */
  readonly work: (kill: number) => Promise<(() => Promise<void>) | void>;
  /** Asked before each round: whether there is nothing left to do. */
  readonly isOver?: () => boolean;
}

/** Kills the daemon with SIGKILL again and again; each time its store has to be sound, and it starts anew. */
export async function killRepeatedly(
  t: Test,
  box: PosternBox,
  { kills, withinMs, work, isOver = () => false }: Kills,
): Promise<void> {
  for (let kill = 1; kill <= kills && !isOver(); kill++) {
    await box.untilReady();
    const afterKill = await work(kill);
    await delay(randomInt(withinMs));
    await box.kill();
    await afterKill?.();
    const run = await box.cli('verify');
    t.equal(run.code, 0, `sound after kill ${kill}: ${run.stderr}`);
    await box.start();
  }
}
