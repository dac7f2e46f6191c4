import type { IncomingMessage, ServerResponse } from 'node:http';
import { ERRORS, type Failure } from '../domain/errors.js';
import type { ByteStream, Download } from '../usecases/read-message.js';
import { attachmentDisposition } from './content-disposition.js';
import type { Reply } from './route.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Headers of every answer (decisions, HTTP). */
export function setCommonHeaders(response: ServerResponse, requestId: string): void {
  response.setHeader('X-Request-ID', requestId);
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
}

/** Writes a reply to its end; resolves when the last byte is handed to the socket or the client is gone. */
export async function writeReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
): Promise<void> {
  switch (reply.kind) {
    case 'json':
      for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
      return writeJson(request, response, reply.status, reply.body);
    case 'failure':
      return writeFailure(request, response, reply.failure);
    case 'json-bytes':
      response.setHeader('Content-Type', JSON_TYPE);
      return writeStream(request, response, reply.status, reply.stream);
    case 'download':
      setDownloadHeaders(response, reply.contentType, reply.download);
      return writeStream(request, response, 200, reply.download);
  }
}

function writeFailure(request: IncomingMessage, response: ServerResponse, failure: Failure): Promise<void> {
  const { status } = ERRORS[failure.code];
  if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  const details = failure.details === undefined ? {} : { details: failure.details };
  return writeJson(request, response, status, {
    error: { code: failure.code, message: failure.message, ...details },
  });
}

async function writeJson(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  body: object,
): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(body), 'utf8');
  response.setHeader('Content-Type', JSON_TYPE);
  response.setHeader('Content-Length', bytes.length);
  response.statusCode = status;
  await finish(request, response, request.method === 'HEAD' ? null : bytes);
}

/** A file from a stranger: never rendered, never sniffed, never run (specification, Downloads). */
function setDownloadHeaders(response: ServerResponse, contentType: string, download: Download): void {
  response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Disposition', attachmentDisposition(download.filename));
  response.setHeader('Content-Security-Policy', "sandbox; default-src 'none'");
}

async function writeStream(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  stream: ByteStream,
): Promise<void> {
  response.setHeader('Content-Length', stream.size);
  response.statusCode = status;
  if (hasUnreadBody(request)) response.setHeader('Connection', 'close');
  if (request.method === 'HEAD') return finish(request, response, null);
  if (Array.isArray(stream.bytes) && stream.bytes.length === 1) {
    return finish(request, response, stream.bytes[0] ?? null);
  }
  for await (const chunk of stream.bytes) {
    if (response.destroyed) return;
    if (!response.write(chunk)) await drained(response);
  }
  await finish(request, response, null);
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise(resolve => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

/** How much of an unread request body is taken off the wire, and how long, so that the answer arrives. */
const LINGER_BYTES = 1024 * 1024;
const LINGER_MS = 2_000;

/**
 * Ends the answer. When the client is still sending a body that nobody wants (413, 401), closing at once
 * would reset the connection and could destroy the answer on its way: the answer is written in full,
 * then a bounded rest of the request is taken in and thrown away, then the connection closes.
 */
async function finish(
  request: IncomingMessage,
  response: ServerResponse,
  body: Uint8Array | null,
): Promise<void> {
  if (!hasUnreadBody(request)) {
    response.end(body ?? undefined);
    return;
  }
  if (!response.headersSent) response.setHeader('Connection', 'close');
  if (body !== null) response.write(body);
  else if (!response.headersSent) response.flushHeaders();
  await discard(request);
  response.end();
  if (!request.complete) request.destroy();
}

function hasUnreadBody(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

function discard(request: IncomingMessage): Promise<void> {
  return new Promise(resolve => {
    let size = 0;
    const timer = setTimeout(() => done(), LINGER_MS);
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > LINGER_BYTES) done();
    };
    const done = (): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', done).off('close', done).off('error', done);
      request.pause();
      resolve();
    };
    request.on('data', onData).on('end', done).on('close', done).on('error', done);
    request.resume();
  });
}
