import assert from 'node:assert/strict';
import { Ajv2020 } from '@redocly/ajv/dist/2020.js';
import type { PosternBox } from '../box/postern-box.js';

/** What `tools/list` says of a tool. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly outputSchema: object;
  readonly annotations: Readonly<Record<string, boolean>>;
}

export interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
}

export interface ToolFailure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

export interface RpcAnswer {
  readonly jsonrpc: '2.0';
  readonly id: number | string | null;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A program that speaks the Model Context Protocol with a box over HTTP: every result is held against its schema. */
export class McpClient {
  readonly #url: string;
  readonly #credential: string;
  #tools: Promise<readonly Tool[]> | undefined;
  readonly #ajv = new Ajv2020({ strict: true, validateFormats: false, allowUnionTypes: true });

  constructor(box: Pick<PosternBox, 'httpPort'>, credential: string) {
    this.#url = `http://127.0.0.1:${box.httpPort}/mcp`;
    this.#credential = credential;
  }

  /** Sends a body as it is. */
  post(body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return fetch(this.#url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#credential}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
        ...headers,
      },
      body,
    });
  }

  /** A request of the protocol; its answer is one JSON document. */
  async request(method: string, params: object = {}): Promise<unknown> {
    const answer = await this.post(JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }));
    assert.equal(answer.status, 200, `${method}: ${await answer.clone().text()}`);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    const { id, result, error } = (await answer.json()) as RpcAnswer;
    assert.equal(id, 7);
    if (error !== undefined) throw new Error(`${method}: ${error.code} ${error.message}`);
    return result;
  }

  tools(): Promise<readonly Tool[]> {
    this.#tools ??= this.request('tools/list').then(result => (result as { tools: readonly Tool[] }).tools);
    return this.#tools;
  }

  /** Calls a tool, and holds arguments and result of a call that succeeds against the schemas. */
  async result(name: string, args: object = {}): Promise<ToolResult> {
    const tool = (await this.tools()).find(tool => tool.name === name);
    const result = (await this.request('tools/call', { name, arguments: args })) as ToolResult;
    if (tool === undefined || result.isError === true) return result;
    this.#check(tool.inputSchema, args, `the arguments of ${name}`);
    this.#check(tool.outputSchema, result.structuredContent, `the result of ${name}`);
    assert.deepEqual(JSON.parse(result.content[0]?.text ?? ''), result.structuredContent);
    return result;
  }

  /** The structured content of a call that succeeds. */
  async call<Content>(name: string, args: object = {}): Promise<Content> {
    const result = await this.result(name, args);
    assert.notEqual(result.isError, true, `${name}: ${result.content[0]?.text}`);
    return result.structuredContent as Content;
  }

  /** What a call that fails tells. */
  async failure(name: string, args: object = {}): Promise<ToolFailure> {
    const { isError, content, structuredContent } = await this.result(name, args);
    assert.equal(isError, true, `${name} succeeded: ${content[0]?.text}`);
    assert.equal(structuredContent, undefined);
    const failure = JSON.parse(content[0]?.text ?? '') as ToolFailure;
    assert.equal(typeof failure.message, 'string');
    assert.equal(typeof failure.retryable, 'boolean');
    return failure;
  }

  #check(schema: object, value: unknown, what: string): void {
    const validate = this.#ajv.compile(schema);
    if (validate(value)) return;
    throw new Error(`${what} break the schema: ${JSON.stringify(validate.errors?.slice(0, 5))}`);
  }
}
