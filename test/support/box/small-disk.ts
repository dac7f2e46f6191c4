import { execFileSync } from 'node:child_process';
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

/** A file system of its own that is small enough to be filled. */
export interface SmallDisk {
  readonly path: string;
  /** Another file on it takes all that is left but so many MiB. */
  fill(leaveMib: number): void;
  /** That file goes. */
  empty(): void;
}

/** May this process mount anything? */
export function canMount(): boolean {
  const path = mkdtempSync(join(tmpdir(), 'disk-'));
  const isMounted = mountTmpfs(path, 1);
  if (isMounted) run('umount', path);
  rmSync(path, { recursive: true, force: true });
  return isMounted;
}

/**
 * Mounts a small ext4 from a file, as a real disk behaves, or a tmpfs where loop devices are not to be
 * had. It is gone after the test.
 */
export function mountSmallDisk(t: Test, sizeMib: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'disk-'));
  const path = join(folder, 'mount');
  mkdirSync(path);
  const isMounted = mountLoop(join(folder, 'image'), path, sizeMib) || mountTmpfs(path, sizeMib);
  t.teardown(() => {
    // Lazily: a Redis that is just ending may still have its files open.
    if (isMounted) run('umount', '--lazy', path);
    rmSync(folder, { recursive: true, force: true });
  });
  if (!isMounted) throw new Error('nothing could be mounted');
  const ballast = join(path, 'ballast');
  return {
    path,
    fill: leaveMib => writeBallast(ballast, path, leaveMib * 2 ** 20),
    empty: () => rmSync(ballast, { force: true }),
  };
}

function mountLoop(image: string, path: string, sizeMib: number): boolean {
  const file = openSync(image, 'w');
  ftruncateSync(file, sizeMib * 2 ** 20);
  closeSync(file);
  return run('mkfs.ext4', '-q', '-m', '0', image) && run('mount', '-o', 'loop', image, path);
}

function mountTmpfs(path: string, sizeMib: number): boolean {
  return run('mount', '-t', 'tmpfs', '-o', `size=${sizeMib}m`, 'tmpfs', path);
}

function run(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Appends until so many bytes are free, or until nothing more goes in. */
function writeBallast(ballast: string, path: string, leaveBytes: number): void {
  const file = openSync(ballast, 'a');
  const block = Buffer.alloc(64 * 1024, 0x42);
  try {
    while (freeBytes(path) > leaveBytes)
      writeSync(file, block, 0, Math.min(block.length, freeBytes(path) - leaveBytes));
    fsyncSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}
