import type net from 'node:net';

/**
 * A client that is told off in the middle of sending has to find the reply: closing with its bytes unread
 * would reset the connection and may take the reply along. So after our FIN we read this much more at
 * most, and hang up for good after this time, whether the client has left or not.
 */
const LINGER_BYTES = 512 * 1024;
const LINGER_MS = 2000;

/** Bounds what a socket whose writing side has ended may still cost. Clear the timer when it has closed. */
export function limitLinger(socket: net.Socket): NodeJS.Timeout {
  let left = LINGER_BYTES;
  socket.on('data', (bytes: Buffer) => {
    left -= bytes.length;
    if (left < 0) socket.pause();
  });
  return setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
