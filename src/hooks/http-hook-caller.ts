import { setMaxListeners } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { settledWithin } from '../lib/async.js';
import { readRetryAfter } from '../lib/retry-after.js';
import type { HookCall, HookCaller, HookOutcome } from '../usecases/webhooks/hook-call.js';
import { type ConnectDeps, connectChecked, HookFailure } from './connect-checked.js';

export interface HookCallerOptions extends ConnectDeps {
  /** Names this program to endpoints. */
  readonly version: string;
  /** For all of a call, the look-up included. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
/** An answer is read and thrown away up to here, so that an endpoint can end it; then the connection is closed. */
const MAX_ANSWER_BYTES = 16 * 1024;
const MAX_ANSWER_MS = 1_000;

/**
 * Sends events over HTTP, signed as Standard Webhooks says (`webhook-id`, `webhook-timestamp`, `webhook-signature`). One
 * connection each, no redirects, no proxy; of the answer only the status and Retry-After are looked at.
 */
export class HttpHookCaller implements HookCaller {
  readonly #options: HookCallerOptions;
  readonly #open = new Set<Promise<HookOutcome>>();
  readonly #closing = new AbortController();
  #isClosing = false;

  constructor(options: HookCallerOptions) {
    this.#options = options;
    setMaxListeners(0, this.#closing.signal);
  }

  async call(call: HookCall): Promise<HookOutcome> {
    if (this.#isClosing) return { kind: 'stopped' };
    const work = this.#call(call);
    this.#open.add(work);
    return work.finally(() => this.#open.delete(work));
  }

  /** Begins no more calls; those under way may end within `graceMs`, and are cut off then. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    await settledWithin(graceMs, this.#open);
    this.#closing.abort();
    await Promise.allSettled(this.#open);
  }

  async #call(call: HookCall): Promise<HookOutcome> {
    const { timeoutMs = TIMEOUT_MS } = this.#options;
    const aborter = new AbortController();
    const abort = (): void => aborter.abort();
    const timer = setTimeout(abort, timeoutMs);
    const { signal } = this.#closing;
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    try {
      const { outcome, closed } = await aborted(aborter.signal, this.#send(call, aborter.signal));
      // From here on the answer counts, however long the rest of it takes. Its socket does as well: who calls next has
      // the place of this call.
      await closed;
      return outcome;
    } catch (error) {
      if (signal.aborted) return { kind: 'stopped' };
      const reason = aborter.signal.aborted
        ? 'timeout'
        : error instanceof HookFailure
          ? error.reason
          : 'no_answer';
      return { kind: 'failed', status: null, reason, retryAfterMs: null };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  async #send(call: HookCall, signal: AbortSignal): Promise<Answered> {
    const url = new URL(call.url);
    const socket = await connectChecked(this.#options, url, signal);
    const closed = new Promise<void>(resolve => {
      socket.once('close', () => resolve());
      if (socket.closed) resolve();
    });
    const response = await exchange(socket, url, this.#headersOf(call, url), call.body, signal);
    throwAway(response, socket);
    return { outcome: outcomeOf(response, call.at), closed };
  }

  #headersOf({ id, at, secrets, body }: HookCall, { host }: URL): Record<string, string> {
    const date = new Date(at);
    return {
      host,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': `Postern/${this.#options.version}`,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at / 1000)),
      'webhook-signature': secrets.map(secret => new Webhook(secret).sign(id, date, body)).join(' '),
    };
  }
}

/** What an endpoint has answered. */
interface Answered {
  readonly outcome: HookOutcome;
  /** Resolves when its connection is closed: soon, whatever else it sends. */
  readonly closed: Promise<void>;
}

/** Rejects when the signal says so, whatever `work` waits for. */
async function aborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let stop = (): void => undefined;
  const end = new Promise<never>((_resolve, reject) => {
    stop = () => reject(new Error('it was cut off'));
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    signal.removeEventListener('abort', stop);
    // What it still does is looked after by the signal.
    work.catch(() => undefined);
  }
}

function exchange(
  socket: Socket,
  url: URL,
  headers: Record<string, string>,
  body: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = request({
      method: 'POST',
      path: `${url.pathname}${url.search}`,
      headers,
      createConnection: () => socket,
      setHost: false,
      signal,
    });
    asked.on('error', error => {
      socket.destroy();
      reject(error);
    });
    asked.on('response', resolve);
    asked.end(body);
  });
}

function throwAway(response: IncomingMessage, socket: Socket): void {
  let bytes = 0;
  const end = (): void => {
    clearTimeout(timer);
    response.destroy();
    // Also when the endpoint has ended its answer, and takes nothing of what it was sent.
    socket.destroy();
  };
  const timer = setTimeout(end, MAX_ANSWER_MS);
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) end();
  });
  response.on('error', end);
  response.on('close', end);
  response.on('end', end);
}

function outcomeOf({ statusCode = 0, headers }: IncomingMessage, nowMs: number): HookOutcome {
  if (statusCode >= 200 && statusCode < 300) return { kind: 'taken', status: statusCode };
  const isRedirect = statusCode >= 300 && statusCode < 400;
  const reason = isRedirect ? 'redirect' : statusCode === 410 ? 'gone' : 'status';
  const retryAfterMs = isRedirect ? null : readRetryAfter(headers['retry-after'], nowMs);
  return { kind: 'failed', status: statusCode, reason, retryAfterMs };
}
