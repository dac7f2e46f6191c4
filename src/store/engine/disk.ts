import { statfsSync } from 'node:fs';

/** Bytes of the file system under a path that a process without special rights may still take. */
export function freeBytesAt(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/** For people, rounded up: `3 MiB`. */
export function inMib(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}
