import { randomUUID } from 'node:crypto';
import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ERRORS, type ErrorCode } from '../../contract/errors.js';
import { endGently } from './linger.js';

/** Bytes that the request line and the headers of a request may have together. */
export const MAX_HEADER_BYTES = 64 * 1024;

/** Why Node could not read a request, by its code of the error; anything else is no HTTP. */
const FAILURES: Readonly<Record<string, { readonly code: ErrorCode; readonly message: string }>> = {
  HPE_HEADER_OVERFLOW: {
    code: 'headers_too_large',
    message: `The request line and the headers may have at most ${MAX_HEADER_BYTES} bytes together. Send shorter query parameters or fewer headers.`,
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'request_timeout',
    message: 'The request did not arrive in time. Send it again, faster or in smaller parts.',
  },
};
const NO_HTTP = {
  code: 'invalid_request',
  message:
    'This is not a well-formed HTTP/1.1 request: check the request line, the headers and their framing.',
} as const;

/**
 * Answers requests that Node cannot read in the form of all other errors, and ends their connections.
 * @param mayAnswer false while earlier requests of a connection are still to be answered, for no answer may come before
 *   theirs, and where the TLS handshake has failed
 */
export function answerUnread(server: Server, mayAnswer: (socket: Socket) => boolean): void {
  // Node tells again of every piece that comes after the first that it cannot read.
  const answered = new WeakSet<Socket>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (answered.has(socket)) return;
    answered.add(socket);
    if (error.code === 'ECONNRESET' || !socket.writable || !mayAnswer(socket)) {
      socket.destroy();
      return;
    }
    const { code, message } = FAILURES[error.code ?? ''] ?? NO_HTTP;
    socket.write(rawAnswer(code, message));
    endGently(socket);
  });
}

/** There is no response object for a request that was not read. */
function rawAnswer(code: ErrorCode, message: string): string {
  const body = JSON.stringify({ error: { code, message } });
  return [
    `HTTP/1.1 ${ERRORS[code].status} ${STATUS_CODES[ERRORS[code].status]}`,
    `X-Request-ID: ${randomUUID()}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}
