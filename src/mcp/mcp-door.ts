import type { IncomingHttpHeaders } from 'node:http';
import type * as Library from '@modelcontextprotocol/server';
import { STRANGERS } from '../contract/tools/tool.js';
import { type ListedTool, listTools } from '../contract/tools/tool-list.js';
import { callTool, findTool } from './call-tool.js';
import type { McpDeps, ToolCaller } from './deps.js';
import { argumentsOf } from './read-arguments.js';
import { ResultBytes } from './result-bytes.js';
import { isObject, type JsonObject } from './values.js';

/** One message of a client, as HTTP brings it. */
export interface McpRequest extends ToolCaller {
  readonly headers: IncomingHttpHeaders;
  /** A JSON-RPC message. */
  readonly message: JsonObject;
}

export interface McpAnswer {
  readonly status: number;
  /** JSON; nothing for what is only acknowledged. */
  readonly bytes: readonly Uint8Array[];
}

/** Headers that the protocol gives a meaning ("Transports", Streamable HTTP). */
const PROTOCOL_HEADERS = ['mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;

const METHOD_NOT_FOUND = -32601;

/**
 * Answers messages of the Model Context Protocol, each by itself: there are no sessions, and each answer is one JSON
 * document. Both revisions that the library knows are served: that of an envelope in each request, and that of a
 * handshake before.
 */
export class McpDoor {
  readonly #deps: McpDeps;
  readonly #tools: readonly ListedTool[];
  readonly #loaded: Promise<Loaded>;

  /** Begins to load the library, which takes some tenths of a second. */
  constructor(deps: McpDeps) {
    this.#deps = deps;
    this.#tools = listTools(deps.allowsErasing);
    this.#loaded = this.#load();
    // Told to whoever asks; until then it must not count as an unhandled rejection.
    this.#loaded.catch(() => {});
  }

  /** Not an async function: that would hold the arguments of a call until its answer. */
  answer({ headers, message, ...caller }: McpRequest): Promise<McpAnswer> {
    // Streams of changes: the list of tools never changes, and an answer is one document.
    if (String(message.method).startsWith('subscriptions/')) return Promise.resolve(notFound(message));
    const call = new Call(caller, message);
    return this.#loaded
      .then(loaded => this.#answer(loaded, webRequest(headers), call))
      .then(async response => ({
        status: response.status,
        bytes: await call.bytesOf(await response.text()),
      }));
  }

  async #load(): Promise<Loaded> {
    const library = await import('@modelcontextprotocol/server');
    const modern = library.createMcpHandler(({ authInfo }) => this.#server(library, callOf(authInfo)), {
      legacy: 'reject',
      onerror: error => {
        this.#deps.log.debug({ err: error }, 'a message of the Model Context Protocol was refused');
      },
    });
    return { library, modern };
  }

  async #answer({ library, modern }: Loaded, request: Request, call: Call): Promise<Response> {
    const parsedBody = call.message;
    if (!(await library.isLegacyRequest(request, parsedBody))) {
      return modern.fetch(request, { parsedBody, authInfo: carrying(call) });
    }
    const server = this.#server(library, call);
    const transport = new library.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { parsedBody });
    } finally {
      await server.close();
    }
  }

  #server({ Server, ProtocolError, ProtocolErrorCode }: typeof Library, call: Call): Library.Server {
    const { service, version } = this.#deps;
    const server = new Server(
      { name: service.name, version, websiteUrl: service.publicUrl },
      { capabilities: { tools: {} }, instructions: instructionsOf(service.name) },
    );
    server.setRequestHandler('tools/list', () => ({ tools: [...this.#tools] }));
    server.setRequestHandler('tools/call', ({ params }) => {
      const name = findTool(params.name, this.#deps);
      if (name === null) {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}.`);
      }
      return callTool(this.#deps, call.caller, name, call.takeArguments()).then(result =>
        call.resultOf(result),
      );
    });
    return server;
  }
}

interface Loaded {
  readonly library: typeof Library;
  /** Serves the revision without a handshake. */
  readonly modern: Library.McpHttpHandler;
}

/** A message whose arguments were taken out of it: whoever keeps the message does not keep them. */
class Call {
  readonly caller: ToolCaller;
  readonly message: JsonObject;
  #args: JsonObject | null = null;
  #result: ResultBytes | null = null;

  constructor(caller: ToolCaller, message: JsonObject) {
    this.caller = caller;
    const { params } = message;
    const isCall = message.method === 'tools/call' && isObject(params) && isObject(params.arguments);
    this.message = isCall ? { ...message, params: { ...params, arguments: {} } } : message;
    if (isCall) this.#args = argumentsOf(params.arguments);
  }

  /** The result as the library is to have it. */
  resultOf(result: Library.CallToolResult | ResultBytes): Library.CallToolResult {
    if (!(result instanceof ResultBytes)) return result;
    this.#result = result;
    return result.marked;
  }

  /** The answer of the library as it is sent. */
  async bytesOf(answer: string): Promise<readonly Uint8Array[]> {
    return this.#result?.fill(answer) ?? [Buffer.from(answer)];
  }

  takeArguments(): JsonObject {
    const args = this.#args ?? {};
    this.#args = null;
    return args;
  }
}

/** The library hands this through to the maker of the server. It checks no keys: HTTP has done so. */
function carrying(call: Call): Library.AuthInfo {
  return { token: '', clientId: '', scopes: [], extra: { call } };
}

function callOf(info: Library.AuthInfo | undefined): Call {
  const call = info?.extra?.call;
  if (call instanceof Call) return call;
  throw new Error('a message came without its caller');
}

/** The request as the library wants to see it; nothing but the headers of the protocol is of use to it. */
function webRequest(headers: IncomingHttpHeaders): Request {
  const given = PROTOCOL_HEADERS.flatMap((name): [string, string][] => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: [
      ['content-type', 'application/json'],
      // Every answer is JSON, whatever else a client would take.
      ['accept', 'application/json, text/event-stream'],
      ...given,
    ],
  });
}

function notFound({ id = null, method }: JsonObject): McpAnswer {
  const error = { code: METHOD_NOT_FOUND, message: `There is no method ${method}.` };
  return { status: 404, bytes: [Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error }))] };
}

function instructionsOf(service: string): string {
  return `${service} is mail for agents. Begin with list_inboxes. ${STRANGERS} From is what a message claims: get_message with format full tells what proves it. The answer to a send is no proof of delivery: look at message.status, and never send again what is unknown without looking.`;
}
