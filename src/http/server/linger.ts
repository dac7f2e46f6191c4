import type { Socket } from 'node:net';

/** For how long, and for how many bytes, a connection is read after its last answer. */
const LINGER_MS = 30_000;
const LINGER_BYTES = 32 * 1024 * 1024;
/** A client that sends nothing for this long has taken the answer, or never will. */
const SILENCE_MS = 2_000;
const LOOK_MS = 250;

/**
 * Ends a connection whose client may still be sending something that nobody wants, such as a body over the limit. Most
 * clients read only when they have sent everything, and a socket that is closed with unread bytes resets the
 * connection: the answer would be lost. So our side is closed when all that was written has left, what still comes is
 * read and thrown away, and the connection ends with its client or within bounds (RFC 9112 section 9.6). Whoever reads
 * from the socket has to go on.
 */
export function endGently(socket: Socket): void {
  socket.end();
  const begunAt = performance.now();
  const begunBytes = socket.bytesRead;
  let heardAt = begunAt;
  let heardBytes = begunBytes;
  const timer = setInterval(() => {
    const now = performance.now();
    if (socket.bytesRead > heardBytes) {
      heardBytes = socket.bytesRead;
      heardAt = now;
    }
    const isOver =
      now - begunAt > LINGER_MS || now - heardAt > SILENCE_MS || heardBytes - begunBytes > LINGER_BYTES;
    if (isOver) socket.destroy();
  }, LOOK_MS);
  socket.once('close', () => clearInterval(timer));
}
