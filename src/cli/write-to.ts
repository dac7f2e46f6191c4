import type { Writable } from 'node:stream';
import type { Write } from './dependencies.js';

/** Whoever read our output has gone, as `head` does when it has seen enough. */
export class OutputClosedError extends Error {
  constructor() {
    super('nobody reads the output any more');
    this.name = 'OutputClosedError';
  }
}

/**
 * A `Write` for a stream of the process. It takes care of the stream's errors for good: Node emits them
 * besides telling the callback, and one that nobody listens to would end the process with a stack.
 */
export function writeTo(stream: Writable): Write {
  stream.on('error', () => {});
  return data =>
    new Promise((resolve, reject) => {
      stream.write(data, error => {
        if (error === null || error === undefined) resolve();
        else reject(isClosed(error) ? new OutputClosedError() : error);
      });
    });
}

function isClosed(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED';
}
