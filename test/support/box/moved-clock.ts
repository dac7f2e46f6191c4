import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PosternBox } from './postern-box.js';

/**
 * A module that Node loads first, with which the wall time of a process can be moved: `Date.now` and `new Date()` add what is in a file of
 * its working directory. Everything else is the machine's: the time since boot, the monotonic clock, timers.
 */
const MODULE = `
  import { readFileSync } from 'node:fs';
  const RealDate = Date;
  let movedMs = 0;
  const look = () => { try { movedMs = Number(readFileSync('clock-moved-by', 'utf8')); } catch {} };
  look();
  setInterval(look, 10).unref();
  globalThis.Date = class extends RealDate {
    constructor(...given) { if (given.length === 0) super(RealDate.now() + movedMs); else super(...given); }
    static now() { return RealDate.now() + movedMs; }
  };
`;

/** For the environment of a box: its daemon and its command line. */
export const MOVABLE_CLOCK = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(MODULE)}`,
} as const;

/** Moves the clock of a box that has `MOVABLE_CLOCK`, within a moment or at its next start; 0 for the machine's. */
export function moveClock(box: PosternBox, ms: number): void {
  writeFileSync(join(box.folder, 'clock-moved-by'), String(ms));
}
