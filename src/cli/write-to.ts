import { fstatSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { Write } from './dependencies.js';

/** Whoever read our output has gone, as `head` does when it has seen enough. */
export class OutputClosedError extends Error {
  constructor() {
    super('nobody reads the output any more');
    this.name = 'OutputClosedError';
  }
}

/** The output could not take what was written: a full disk, most likely. */
export class OutputFailedError extends Error {
  constructor(cause: Error) {
    super(`the output cannot be written: ${cause.message}`, { cause });
    this.name = 'OutputFailedError';
  }
}

/**
 * A `Write` for a stream of the process. It takes care of the stream's errors for good: Node emits them
 * besides telling the callback, and one that nobody listens to would end the process with a stack.
 */
export function writeTo(stream: Writable & { readonly fd?: number }): Write {
  stream.on('error', () => {});
  const { fd } = stream;
  const write = fd !== undefined && fstatSync(fd).isFile() ? toFile(fd) : toStream(stream);
  return async data => {
    try {
      await write(data);
    } catch (error) {
      throw isClosed(error) ? new OutputClosedError() : new OutputFailedError(error as Error);
    }
  };
}

/** Node's stream over a file takes a short write for a whole one: on a full disk bytes would be lost unsaid. */
function toFile(fd: number): Write {
  return async data => {
    const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
  };
}

function toStream(stream: Writable): Write {
  return data =>
    new Promise((resolve, reject) => {
      stream.write(data, error => (error === null || error === undefined ? resolve() : reject(error)));
    });
}

function isClosed(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
}
