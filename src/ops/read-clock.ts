import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import type { ClockReading } from '../domain/clock.js';

let bootId: string | undefined;

/**
 * Reads the clock and how long the machine has been running. Node knows no CLOCK_BOOTTIME (clock_gettime(2)); Linux
 * shows it in /proc/uptime, which is what `os.uptime` reads, in hundredths of a second.
 */
export function readClock(): ClockReading {
  bootId ??= readBootId();
  return { at: Date.now(), bootId, bootMs: Math.round(uptime() * 1000) };
}

/** Where it cannot be read, every start of the machine looks like one whose running time began anew. */
function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
