import { BODY_BYTES } from '../../contract/limits.js';
import { reasonOf } from '../../lib/async.js';
import type { Write } from '../dependencies.js';

export interface BridgeOptions {
  /** Where the daemon takes messages. */
  readonly url: string;
  readonly key: string;
  readonly input: AsyncIterable<Uint8Array>;
  readonly write: Write;
  /** For people who read the log of the program that has started us. */
  readonly warn: Write;
}

/** Messages that are passed on at a time; more wait in the pipe. */
const MAX_AT_ONCE = 8;
/** The longest message: more than the daemon takes. */
const MAX_LINE_BYTES = BODY_BYTES.message + 4096;

const PARSE_ERROR = -32700;
/** "Implementation-defined server errors" (JSON-RPC 2.0, section 5.1). */
const SERVER_ERROR = -32000;

/** Names of the envelope in which a request tells its revision (MCP, "Transports"). */
const VERSION_OF_REQUEST = 'io.modelcontextprotocol/protocolVersion';

/**
 * Passes messages of the Model Context Protocol from standard input on to the daemon, each in a request of its own, and
 * its answers back (MCP, "Transports", stdio: a message a line). Ends when the input has ended and all is answered.
 */
export async function bridge(options: BridgeOptions): Promise<void> {
  const passing = new Passing(options);
  const inFlight = new Set<Promise<void>>();
  // Nobody waits for a pass while lines are read: what one fails with must not be an unhandled rejection.
  const failures: unknown[] = [];
  for await (const line of linesOf(options.input)) {
    if (failures.length > 0) break;
    const one = passing
      .pass(line)
      .catch(error => void failures.push(error))
      .finally(() => inFlight.delete(one));
    inFlight.add(one);
    if (inFlight.size >= MAX_AT_ONCE) await Promise.race(inFlight);
  }
  await Promise.all(inFlight);
  if (failures.length > 0) throw failures[0];
}

interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: {
    readonly name?: unknown;
    readonly protocolVersion?: unknown;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
}

class Passing {
  readonly #options: BridgeOptions;
  /** What the handshake has agreed on. */
  #version: string | null = null;
  #written: Promise<void> = Promise.resolve();

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  async pass(line: Buffer | null): Promise<void> {
    const message = line === null ? null : parse(line);
    if (line === null || message === null) {
      const reason = line === null ? `a message may have at most ${MAX_LINE_BYTES} bytes` : 'this is no JSON';
      return this.#fail(null, PARSE_ERROR, `Parse error: ${reason}.`);
    }
    try {
      await this.#send(line, message);
    } catch (error) {
      const reason = `The daemon at ${this.#options.url} does not answer (${causeOf(error)}). Is it running?`;
      await this.#fail(message, SERVER_ERROR, reason);
    }
  }

  async #send(line: Buffer, message: Message): Promise<void> {
    const { url, key } = this.#options;
    const headers = { ...this.#protocolHeaders(message), authorization: `Bearer ${key}` };
    const response = await fetch(url, { method: 'POST', headers, body: line });
    const text = await response.text();
    const answer = text === '' ? null : parse(Buffer.from(text));
    if (answer !== null && 'jsonrpc' in answer) {
      if (message.method === 'initialize') this.#version = versionIn(answer);
      return this.#put(text);
    }
    if (!response.ok) await this.#fail(message, SERVER_ERROR, `${response.status}: ${refusalIn(answer)}`);
  }

  #protocolHeaders({ method = '', params }: Message): Record<string, string> {
    const ofRequest = params?._meta?.[VERSION_OF_REQUEST];
    const version = typeof ofRequest === 'string' ? ofRequest : this.#version;
    const isModern = typeof ofRequest === 'string';
    return {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(version === null ? {} : { 'mcp-protocol-version': version }),
      ...(isModern ? { 'mcp-method': method } : {}),
      ...(isModern && typeof params?.name === 'string' ? { 'mcp-name': params.name } : {}),
    };
  }

  /** Notifications get no answer: what becomes of them is told to people. */
  #fail(message: Message | null, code: number, reason: string): Promise<void> {
    if (message !== null && message.id === undefined) return this.#options.warn(`postern: ${reason}\n`);
    return this.#put(
      JSON.stringify({ jsonrpc: '2.0', id: message?.id ?? null, error: { code, message: reason } }),
    );
  }

  /** One whole line after the other. */
  #put(text: string): Promise<void> {
    this.#written = this.#written.then(() => this.#options.write(`${text}\n`));
    return this.#written;
  }
}

function parse(bytes: Buffer): Message | null {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function versionIn(answer: object): string | null {
  const { result } = answer as { readonly result?: { readonly protocolVersion?: unknown } };
  return typeof result?.protocolVersion === 'string' ? result.protocolVersion : null;
}

/** The words of a refusal of the HTTP API. */
function refusalIn(answer: object | null): string {
  const { error } = (answer ?? {}) as {
    readonly error?: { readonly code?: string; readonly message?: string };
  };
  return error === undefined ? 'the daemon refused the message' : `${error.message} (${error.code})`;
}

/** `fetch` says no more than that it failed; its cause says why. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return reasonOf(cause);
}

const LF = 0x0a;

/** The lines of the input that are not blank; null for one that is too long. */
async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer | null> {
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of input) {
    for (let at = 0; at < chunk.length; ) {
      const end = chunk.indexOf(LF, at);
      const part = chunk.subarray(at, end < 0 ? chunk.length : end);
      size += part.length;
      // The rest of a line that is too long is read and thrown away.
      if (size <= MAX_LINE_BYTES) parts.push(part);
      else parts = [];
      if (end < 0) break;
      yield* lineOf(parts, size);
      [parts, size, at] = [[], 0, end + 1];
    }
  }
  yield* lineOf(parts, size);
}

function* lineOf(parts: readonly Uint8Array[], size: number): Generator<Buffer | null> {
  if (size > MAX_LINE_BYTES) {
    yield null;
    return;
  }
  const line = Buffer.concat(parts);
  // More than white space.
  if (line.some(byte => byte > 0x20)) yield line;
}
