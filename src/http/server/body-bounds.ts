import type { IncomingMessage } from 'node:http';
import { type Refusal, refuse } from '../../domain/errors.js';

/** What bodies of every kind are held to: how long they are, and how fast large ones come. */

export function tooLarge(limitBytes: number): Refusal {
  return refuse('body_too_large', `The body of this request may have at most ${limitBytes} bytes.`);
}

/**
 * The length that a request declares; null when it declares none.
 * @throws body_too_large
 */
export function declaredBytes(request: IncomingMessage, limitBytes: number): number | null {
  const declared = request.headers['content-length'];
  if (declared === undefined) return null;
  if (Number(declared) > limitBytes) throw tooLarge(limitBytes);
  return Number(declared);
}

/** Throws when the client of a request that has waited did not wait for as long. */
export function stillThere(request: IncomingMessage): void {
  if (request.socket.destroyed) throw new Error('the client went away while its request waited');
}

/**
 * The least rate of a large body, which others wait for: 16 KiB a second, over each window of five seconds. A mobile
 * connection at the edge of its cell is faster, and five seconds bridge lost packets.
 */
const WINDOW_MS = 5_000;
const LEAST_RATE = 16 * 1024;
const LEAST_BYTES = LEAST_RATE * (WINDOW_MS / 1000);

/**
 * Waits for `reading`, the body of this request, for as long as it comes fast enough.
 * @throws request_timeout
 */
export async function atLeastRate<Read>(request: IncomingMessage, reading: Promise<Read>): Promise<Read> {
  let stop = (): void => {};
  const tooSlow = new Promise<never>((_resolve, reject) => {
    stop = watchRate(request, () =>
      reject(
        refuse(
          'request_timeout',
          `The body came too slowly: a large one must come with at least ${LEAST_RATE / 1024} KiB a second.`,
        ),
      ),
    );
  });
  try {
    return await Promise.race([reading, tooSlow]);
  } finally {
    stop();
  }
}

/** Calls `onSlow` after each window in which too little came. Returns what ends the watch. */
function watchRate(request: IncomingMessage, onSlow: () => void): () => void {
  const { socket } = request;
  let seenBytes = socket.bytesRead;
  let seenAtMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    // When we come late the process was busy, and what has arrived meanwhile has not been read yet. No more has what
    // waits until the store has taken what came before.
    const isOurs = nowMs - seenAtMs > 1.1 * WINDOW_MS || request.isPaused();
    if (!isOurs && socket.bytesRead - seenBytes < LEAST_BYTES) onSlow();
    seenBytes = socket.bytesRead;
    seenAtMs = nowMs;
  }, WINDOW_MS);
  return () => clearInterval(timer);
}
