import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ReceivedAttachment, ReceivedContent } from '../../../src/contract/messages.js';
import type { Contract } from '../contract/contract.js';

export interface ApiAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** The body as JSON. */
  json<Body>(): Body;
  /** `error.code` of a failure. */
  readonly code: string | undefined;
}

export interface ApiRequest {
  readonly headers?: OutgoingHttpHeaders;
  /** An object goes out as JSON, with its content type; bytes and text as they stand. */
  readonly body?: object | string | Uint8Array;
}

/** What `listMessages` says of a message. */
export interface Summary {
  readonly id: string;
  readonly inbox_id: string;
  readonly thread_id: string | null;
  readonly envelope_from: string;
  readonly envelope_to: string;
  readonly subject: string | null;
  readonly received_at: string;
  readonly processing_status: 'pending' | 'processing' | 'ready' | 'failed';
  readonly labels: readonly string[];
}

export interface Detail extends Summary {
  readonly message_id: string | null;
  readonly raw_size: number;
  readonly processed_at: string | null;
  readonly content?: ReceivedContent;
}

export interface Page {
  readonly messages: readonly Summary[];
  readonly next_cursor: string | null;
}

/** How often a message that is not ready yet is asked for: the API has no event for it. */
const POLL_MS = 15;

/** The API as an agent uses it. */
export class ApiClient {
  readonly #port: () => number;
  readonly #credential: string | null;
  readonly #contract: (() => Promise<Contract>) | null;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 32, maxFreeSockets: 4 });

  /** @param contract what every answer is held against at once; null for benchmarks, which would measure it */
  constructor(
    port: () => number,
    credential: string | null,
    contract: (() => Promise<Contract>) | null = null,
  ) {
    this.#port = port;
    this.#credential = credential;
    this.#contract = contract;
  }

  get(path: string, options: ApiRequest = {}): Promise<ApiAnswer> {
    return this.request('GET', path, options);
  }

  post(path: string, body?: object): Promise<ApiAnswer> {
    return this.request('POST', path, body === undefined ? {} : { body });
  }

  patch(path: string, body: object): Promise<ApiAnswer> {
    return this.request('PATCH', path, { body });
  }

  delete(path: string): Promise<ApiAnswer> {
    return this.request('DELETE', path);
  }

  /** Rejects when the answer breaks the contract. */
  async request(method: string, path: string, options: ApiRequest = {}): Promise<ApiAnswer> {
    const answer = await this.#send(method, path, options);
    if (this.#contract !== null) {
      const { body } = options;
      const object = typeof body === 'object' && !(body instanceof Uint8Array) ? body : undefined;
      const { status, headers, bytes } = answer;
      (await this.#contract()).check({ method, path, body: object, status, headers, bytes });
    }
    return answer;
  }

  #send(method: string, path: string, options: ApiRequest): Promise<ApiAnswer> {
    const { body } = options;
    const isJson = typeof body === 'object' && !(body instanceof Uint8Array);
    const payload = isJson ? JSON.stringify(body) : body;
    const headers: OutgoingHttpHeaders = {
      ...(this.#credential === null ? {} : { authorization: `Bearer ${this.#credential}` }),
      ...(isJson ? { 'content-type': 'application/json' } : {}),
      ...(payload === undefined ? {} : { 'content-length': Buffer.byteLength(payload) }),
      ...options.headers,
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(
        { port: this.#port(), method, path, headers, agent: this.#agent },
        response => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            resolve(answer(response.statusCode ?? 0, response.headers, Buffer.concat(chunks)));
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }

  /** A message in whatever state it is. */
  async detail(id: string): Promise<Detail> {
    const got = await this.get(`/v1/messages/${id}`);
    if (got.status !== 200) throw new Error(`GET message ${id}: ${got.status} ${got.bytes.toString()}`);
    return got.json<Detail>();
  }

  /** The message once it is parsed: `ready`, or `failed` when the test allows for it. */
  async finished(id: string): Promise<Detail> {
    for (;;) {
      const detail = await this.detail(id);
      if (detail.processing_status === 'ready' || detail.processing_status === 'failed') return detail;
      await delay(POLL_MS);
    }
  }

  /** The content of the message once it is ready. */
  async content(id: string): Promise<ReceivedContent> {
    const { processing_status, content } = await this.finished(id);
    if (content === undefined) throw new Error(`the message is ${processing_status} and has no content`);
    return content;
  }

  async raw(id: string): Promise<Buffer> {
    const got = await this.get(`/v1/messages/${id}/raw`);
    if (got.status !== 200) throw new Error(`GET raw ${id}: ${got.status} ${got.bytes.toString()}`);
    return got.bytes;
  }

  async attachment(id: string, attachment: ReceivedAttachment): Promise<Buffer> {
    const got = await this.get(`/v1/messages/${id}/attachments/${attachment.id}`);
    if (got.status !== 200) throw new Error(`GET attachment: ${got.status} ${got.bytes.toString()}`);
    return got.bytes;
  }

  async page(inboxId: string, query = ''): Promise<Page> {
    const got = await this.get(`/v1/inboxes/${inboxId}/messages${query}`);
    if (got.status !== 200) throw new Error(`GET messages: ${got.status} ${got.bytes.toString()}`);
    return got.json<Page>();
  }

  /** Every message of an inbox, newest first. */
  async all(inboxId: string): Promise<Summary[]> {
    const messages: Summary[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`;
      const page: Page = await this.page(inboxId, `?limit=100${query}`);
      messages.push(...page.messages);
      cursor = page.next_cursor;
    } while (cursor !== null);
    return messages;
  }

  async count(inboxId: string): Promise<number> {
    const got = await this.get(`/v1/inboxes/${inboxId}/messages/count`);
    if (got.status !== 200) throw new Error(`GET count: ${got.status} ${got.bytes.toString()}`);
    return got.json<{ count: number }>().count;
  }
}

function answer(status: number, headers: IncomingHttpHeaders, bytes: Buffer): ApiAnswer {
  const json = <Body>() => JSON.parse(bytes.toString('utf8')) as Body;
  const code = () => json<{ error?: { code: string } }>().error?.code;
  return { status, headers, bytes, json, code: status >= 400 && bytes.length > 0 ? code() : undefined };
}
