import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/**
 * Waits for the end of a pipe that the guarded process holds open, which the kernel closes when that process has ended,
 * however it did. `timeout` answers 124 when the pipe is still open: then the process hangs and is killed. A later
 * process with the same pid is never met, because the pid is in use for as long as the pipe is open.
 */
const GUARD = 'timeout "$1" cat >/dev/null; [ $? -ne 124 ] || kill -KILL "$2"';

/**
 * Kills this process, from outside, when it has not ended after `ms`. The end of a Node process runs native clean-up
 * that joins the threads of its pool; one of these may be LMDB's, amid a unit of work whose callback only the main
 * thread could run. Then `process.exit` never returns, and no timer, worker or handler of the process runs any more.
 * @param ms whole seconds are waited, rounded up
 */
export function endWithin(ms: number): void {
  const seconds = String(Math.ceil(ms / 1000));
  try {
    const guard = spawn('/bin/sh', ['-c', GUARD, 'sh', seconds, String(process.pid)], {
      stdio: ['pipe', 'ignore', 'ignore'],
      // A session of its own: a signal to the group of the daemon must not reach it.
      detached: true,
    });
    guard.on('error', () => {});
    guard.unref();
    (guard.stdin as Socket | null)?.unref();
  } catch {
    // Neither process nor file handle to be had: the end goes on as it would without a guard.
  }
}

/**
 * `process.exit` that ends the process in any case: with `code`, or killed after `EXIT_MS` when its clean-up hangs.
 * What is to be told must be told before.
 */
export function exitNow(code: number): never {
  endWithin(EXIT_MS);
  return process.exit(code);
}

/** Clean-up that does not hang takes some milliseconds. */
const EXIT_MS = 2_000;
