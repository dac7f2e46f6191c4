import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '../../contract/errors.js';
import { ERRORS } from '../../contract/errors.js';
import type { Failure } from '../../domain/errors.js';
import type { Download } from '../../usecases/mailbox/read-message.js';
import type { ByteStream } from '../../usecases/shared/contents.js';
import type { Hand } from '../../usecases/shared/in-hand.js';
import { endGently } from './linger.js';
import type { PageHeaders, Reply } from './route.js';
import type { Routed } from './router.js';

const JSON_TYPE = 'application/json; charset=utf-8';
/** Always UTF-8 (HTML standard, "Server-sent events"). */
const EVENT_STREAM_TYPE = 'text/event-stream';
const PAGE_TYPE = 'text/html; charset=utf-8';

/** A request and the response that is being made to it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** The code for an unexpected failure. */
  uncertain: ErrorCode;
  readonly outbox: Outbox;
  /** What the request has in memory; null while it has no body. */
  hand: Hand | null;
  /** The route that it takes; null until it is known, and where there is none. */
  route: Routed | null;
  /** It is held back until something happens. */
  waits: boolean;
  /** When it began, by `performance.now()`; 0 where nobody asks. */
  readonly beganAt: number;
}

/** Header names and values alternating, as `writeHead` takes them. */
type Head = (string | number)[];

/**
 * Writes a whole reply. A body in memory is handed to the outbox, and nothing is returned. Otherwise the promise
 * resolves when the last byte has been handed to the socket or the client has disconnected.
 * @param isLast whether the connection is closed after the reply
 */
export function writeReply(exchange: Exchange, reply: Reply, isLast: boolean): Promise<void> | undefined {
  const { request, requestId } = exchange;
  const head = commonHead(requestId);
  if (isLast || hasUnreadBody(request)) head.push('Connection', 'close');
  switch (reply.kind) {
    case 'json':
      return writeJson(exchange, head, reply);
    case 'page':
      addHeaders(head, reply.headers);
      return writeText(exchange, head, reply.status, PAGE_TYPE, reply.html);
    case 'failure':
      return writeJson(exchange, head, failureReply(reply.failure, reply.headers));
    case 'json-bytes':
      head.push('Content-Type', JSON_TYPE);
      return writeStream(exchange, head, reply.status, reply.stream);
    case 'download':
      addDownloadHeaders(head, reply.contentType, reply.download);
      return writeStream(exchange, head, 200, reply.download);
    case 'event-stream':
      head.push('Content-Type', EVENT_STREAM_TYPE, 'X-Accel-Buffering', 'no');
      // It ends with its connection (RFC 9112 section 6.3): in chunks, each event would be written in three parts.
      exchange.response.useChunkedEncodingByDefault = false;
      return pipe(exchange, head, 200, request.method === 'HEAD' ? [] : reply.pieces);
  }
}

/** Headers of every answer. */
function commonHead(requestId: string): Head {
  return ['X-Request-ID', requestId, 'Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff'];
}

type JsonReply = Extract<Reply, { kind: 'json' }>;

function failureReply(failure: Failure, headers: JsonReply['headers']): JsonReply {
  const { code, message, details, beside, retryAfterS } = failure;
  const { status } = ERRORS[code];
  return {
    kind: 'json',
    status,
    body: { error: { code, message, ...(details === undefined ? {} : { details }) }, ...beside },
    headers: {
      ...headers,
      ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
      ...(retryAfterS === undefined ? {} : { 'Retry-After': `${retryAfterS}` }),
    },
  };
}

function writeJson(exchange: Exchange, head: Head, reply: JsonReply): Promise<void> | undefined {
  addHeaders(head, reply.headers ?? {});
  return writeText(exchange, head, reply.status, JSON_TYPE, JSON.stringify(reply.body));
}

function addHeaders(head: Head, headers: PageHeaders): void {
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') head.push(name, value);
    else for (const one of value) head.push(name, one);
  }
}

function writeText(
  exchange: Exchange,
  head: Head,
  status: number,
  contentType: string,
  text: string,
): Promise<void> | undefined {
  const bytes = Buffer.from(text, 'utf8');
  head.push('Content-Type', contentType, 'Content-Length', bytes.length);
  exchange.response.writeHead(status, head);
  return finish(exchange, bytes);
}

/** Headers that keep browsers from rendering, sniffing or running a file from a stranger (`downloadAttachment`). */
function addDownloadHeaders(head: Head, contentType: string, download: Download): void {
  head.push('Content-Type', contentType);
  head.push('Content-Disposition', attachmentDisposition(download.filename));
  head.push('Content-Security-Policy', "sandbox; default-src 'none'");
}

function writeStream(
  exchange: Exchange,
  head: Head,
  status: number,
  { size, bytes }: ByteStream,
): Promise<void> | undefined {
  head.push('Content-Length', size);
  const isWhole = Array.isArray(bytes) && bytes.length === 1;
  if (!isWhole && exchange.request.method !== 'HEAD') return pipe(exchange, head, status, bytes);
  exchange.response.writeHead(status, head);
  return finish(exchange, isWhole ? (bytes[0] ?? null) : null);
}

/** Writes the head with the first chunk only, so that a stream that fails at once can still get an error answer. */
async function pipe(
  exchange: Exchange,
  head: Head,
  status: number,
  bytes: ByteStream['bytes'],
): Promise<void> {
  const { response } = exchange;
  for await (const chunk of bytes) {
    if (response.destroyed) return;
    if (!response.headersSent) response.writeHead(status, head);
    if (!response.write(chunk)) await drained(response);
  }
  if (!response.headersSent) response.writeHead(status, head);
  await finish(exchange, null);
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

/**
 * Ends the answer. A client that is still sending a body which will not be read (413, 401) gets the whole answer before
 * its connection ends.
 */
function finish(exchange: Exchange, body: Uint8Array | null): Promise<void> | undefined {
  const { request, response, outbox } = exchange;
  const due = request.method === 'HEAD' ? null : body;
  if (hasUnreadBody(request)) endUnread(exchange, due);
  else outbox.add(response, due);
  return undefined;
}

/** The response is not ended: Node would close the connection with it. */
function endUnread({ request, response }: Exchange, body: Uint8Array | null): void {
  if (body === null) response.flushHeaders();
  else response.write(body);
  const { socket } = request;
  // In full: then nothing is left that could reset the connection.
  request.once('end', () => socket.destroySoon());
  request.resume();
  if (response.socket !== null) endGently(socket);
  // After the answers to earlier requests of the connection.
  else response.once('socket', () => setImmediate(() => endGently(socket)));
}

function hasUnreadBody(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Percent-encodes everything except `attr-char` of RFC 8187. */
function encodeExtended(text: string): string {
  return encodeURIComponent(text).replace(
    /['()*]/g,
    char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * `Content-Disposition: attachment` with a suggested file name (RFC 6266): an ASCII fallback and, where
 * the name has other characters, the full name as `filename*`.
 */
export function attachmentDisposition(filename: string | null): string {
  if (filename === null) return 'attachment';
  const fallback = filename.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%/]/g, '_');
  const name = `attachment; filename="${fallback}"`;
  return fallback === filename
    ? name
    : `${name}; filename*=UTF-8''${encodeExtended(filename.toWellFormed())}`;
}

/**
 * Collects complete answers and writes all of them at the end of the event turn. A write that wakes its waiting client
 * takes longer than serving a list; written together, answers wake clients less often. Measured: a seventh more lists
 * a second.
 */
export class Outbox {
  #due: { readonly response: ServerResponse; readonly body: Uint8Array | null }[] = [];

  /** Queues the body of an answer whose head has been written; null for none. */
  add(response: ServerResponse, body: Uint8Array | null): void {
    if (this.#due.push({ response, body }) === 1) setImmediate(() => this.#send());
  }

  #send(): void {
    const due = this.#due;
    this.#due = [];
    for (const { response, body } of due) response.end(body ?? undefined);
  }
}
