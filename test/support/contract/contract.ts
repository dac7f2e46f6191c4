import type { IncomingHttpHeaders } from 'node:http';
import { ContractSchemas, type Json } from './contract-schemas.js';

/** A request and its answer. */
export interface Exchange {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** The body, when it was sent as a JSON object. */
  readonly body?: object | undefined;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** A part of the document, and the pointer to it. */
interface Place {
  readonly pointer: string;
  readonly value: Json;
}

interface Operation extends Place {
  readonly segments: readonly string[];
  readonly method: string;
}

/**
 * The published document as a judge: is an answer one that it promises? It knows the document alone, nothing of
 * the route table that the document was made of.
 */
export class Contract {
  readonly #document: Json;
  readonly #schemas: ContractSchemas;
  readonly #operations: readonly Operation[];

  constructor(document: Json) {
    this.#document = document;
    this.#schemas = new ContractSchemas(document);
    this.#operations = operationsOf(document);
  }

  /** Throws when the answer breaks a promise. Paths that are not in the document are left alone. */
  check(exchange: Exchange): void {
    const complaints = this.complaints(exchange);
    if (complaints.length === 0) return;
    const { method, path, status, bytes } = exchange;
    throw new Error(
      [
        `the answer to ${method} ${path} breaks the contract (status ${status}):`,
        ...complaints.map(complaint => `  - ${complaint}`),
        `it was: ${bytes.subarray(0, 2000).toString('utf8')}`,
      ].join('\n'),
    );
  }

  complaints(exchange: Exchange): string[] {
    const candidates = this.#operationsAt(exchange.path);
    if (candidates.length === 0) return [];
    const operation = pick(candidates, exchange.method);
    const complaints = commonComplaints(exchange);
    return operation === undefined
      ? [...complaints, ...wrongMethod(exchange)]
      : [...complaints, ...this.#judge(operation, exchange)];
  }

  /** What the document has against a request, whatever the service says to it. */
  complaintsOfRequest(request: Pick<Exchange, 'method' | 'path' | 'body'>): string[] {
    const operation = pick(this.#operationsAt(request.path), request.method);
    return operation === undefined ? ['there is no such operation'] : this.#judgeRequest(operation, request);
  }

  /** `POST /v1/inboxes` and so on: the operations that take a body. */
  routesWithBody(): string[] {
    return this.#operations
      .filter(({ value }) => 'requestBody' in value)
      .map(({ method, segments }) => `${method} ${segments.join('/')}`);
  }

  #operationsAt(target: string): Operation[] {
    const path = target.split('?', 1)[0] ?? '';
    return this.#operations.filter(({ segments }) => fits(segments, path.split('/')));
  }

  #judge(operation: Operation, exchange: Exchange): string[] {
    const response = this.#child(operation, 'responses', String(exchange.status));
    if (response === undefined) return ['the document does not name this status'];
    return [
      ...this.#judgeHeaders(response, exchange.headers),
      ...this.#judgeBody(operation, response, exchange),
      // What was accepted must be what the document lets a client send.
      ...(exchange.status < 300
        ? this.#judgeRequest(operation, exchange).map(what => `accepted, but not as documented: ${what}`)
        : []),
    ];
  }

  #judgeHeaders(response: Place, given: IncomingHttpHeaders): string[] {
    return Object.keys((response.value.headers ?? {}) as Json).flatMap(name => {
      const header = this.#child(response, 'headers', name);
      const text = given[name.toLowerCase()];
      if (header === undefined) return [];
      if (text === undefined) return header.value.required === true ? [`the header ${name} is missing`] : [];
      const isNumber = (header.value.schema as Json).type === 'integer';
      const value = isNumber ? Number(text) : text;
      return this.#schemas
        .complaintsOfOutput(`${header.pointer}/schema`, value)
        .map(what => `${name}: ${what}`);
    });
  }

  #judgeBody(operation: Operation, response: Place, exchange: Exchange): string[] {
    const { headers, bytes, status } = exchange;
    const mediaType = (headers['content-type'] ?? '').split(';', 1)[0] ?? '';
    const content = this.#child(response, 'content', mediaType);
    if (content === undefined) return [`the document does not name the content type "${mediaType}"`];
    if (exchange.method === 'HEAD') return bytes.length === 0 ? [] : ['an answer to HEAD has a body'];
    if (Number(headers['content-length']) !== bytes.length) return ['Content-Length is wrong'];
    if (mediaType !== 'application/json') return [];
    const body: unknown = parse(bytes);
    if (body === undefined) return ['the body is no JSON'];
    const complaints = this.#schemas.complaintsOfOutput(`${content.pointer}/schema`, body);
    const code = status >= 400 ? (body as { error?: { code?: string } }).error?.code : undefined;
    return code === undefined ? complaints : [...complaints, ...unknownCode(operation, content, code)];
  }

  #judgeRequest(operation: Operation, { body, path }: Pick<Exchange, 'body' | 'path'>): string[] {
    const media = this.#child(operation, 'requestBody', 'content', 'application/json');
    const schema = media === undefined ? undefined : this.#child(media, 'schema');
    const complaints =
      schema === undefined || body === undefined
        ? []
        : // As it went over the wire: without members that are undefined.
          this.#schemas.complaintsOfInput(
            schema.pointer,
            this.#withoutNulls(schema, JSON.parse(JSON.stringify(body)), schema.value['x-null-means']),
          );
    return [...complaints, ...this.#judgeQuery(operation, path)];
  }

  /** A body with what null stands for in its optional members, as `x-null-means` of its type says. */
  #withoutNulls(schema: Place, value: unknown, meaning: unknown): unknown {
    if (meaning === undefined || typeof value !== 'object' || value === null) return value;
    const items = this.#child(schema, 'items');
    if (Array.isArray(value)) {
      return items === undefined ? value : value.map(item => this.#withoutNulls(items, item, 'absent'));
    }
    const required = (schema.value.required ?? []) as readonly string[];
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) => {
        const place = this.#member(schema, name);
        if (place === undefined) return [[name, member]];
        const isNull = member === null && this.#schemas.complaintsOfInput(place.pointer, null).length > 0;
        if (!isNull) return [[name, this.#withoutNulls(place, member, 'absent')]];
        if (required.includes(name)) return [[name, null]];
        return meaning === 'absent' ? [] : [[name, place.value.type === 'array' ? [] : '']];
      }),
    );
  }

  /** A member of an object, or of any of the objects that it may be. */
  #member(schema: Place, name: string): Place | undefined {
    const own = this.#child(schema, 'properties', name);
    if (own !== undefined) return own;
    return ['anyOf', 'oneOf']
      .flatMap(key =>
        ((schema.value[key] ?? []) as Json[]).map((_, at) => this.#child(schema, key, String(at))),
      )
      .flatMap(option => (option === undefined ? [] : (this.#member(option, name) ?? [])))[0];
  }

  #judgeQuery(operation: Operation, path: string): string[] {
    const parameters = ((operation.value.parameters ?? []) as Json[])
      .map((_, index) => this.#child(operation, 'parameters', String(index)))
      .filter(parameter => parameter?.value.in === 'query');
    // An operation without query parameters does not look at the query.
    if (parameters.length === 0) return [];
    const query = new URLSearchParams(path.split('?')[1] ?? '');
    return [...new Set(query.keys())].flatMap(name => {
      const parameter = parameters.find(candidate => candidate?.value.name === name);
      if (parameter === undefined) return [`there is no parameter ${name}`];
      const { type } = parameter.value.schema as Json;
      const texts = query.getAll(name);
      const value = type === 'array' ? texts : type === 'integer' ? Number(texts[0]) : texts[0];
      return this.#schemas
        .complaintsOfInput(`${parameter.pointer}/schema`, value)
        .map(what => `${name}: ${what}`);
    });
  }

  /** Follows keys from a place, and references on the way. */
  #child(place: Place, ...keys: readonly string[]): Place | undefined {
    let current: Place | undefined = place;
    for (const key of keys) {
      const value = current.value[key] as Json | undefined;
      if (value === undefined) return undefined;
      const { $ref } = value;
      current =
        typeof $ref === 'string'
          ? this.#at($ref.slice(1))
          : { pointer: `${current.pointer}/${pointerPart(key)}`, value };
    }
    return current;
  }

  #at(pointer: string): Place {
    let value: Json = this.#document;
    for (const part of pointer.split('/').slice(1)) {
      value = value[part.replaceAll('~1', '/').replaceAll('~0', '~')] as Json;
    }
    return { pointer, value };
  }
}

function operationsOf(document: Json): Operation[] {
  return Object.entries(document.paths as Json).flatMap(([path, item]) =>
    Object.entries(item as Json).map(([method, value]) => ({
      pointer: `/paths/${pointerPart(path)}/${method}`,
      value: value as Json,
      segments: path.split('/'),
      method: method.toUpperCase(),
    })),
  );
}

/** A key as a part of a JSON pointer that stands in a URI fragment (RFC 6901 section 6). */
function pointerPart(key: string): string {
  return encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}

function fits(template: readonly string[], segments: readonly string[]): boolean {
  return (
    template.length === segments.length &&
    template.every((part, index) => (isParameter(part) ? segments[index] !== '' : part === segments[index]))
  );
}

/** A literal segment goes before a parameter. */
function pick(candidates: readonly Operation[], method: string): Operation | undefined {
  const wanted = method === 'HEAD' ? 'GET' : method;
  return candidates
    .filter(candidate => candidate.method === wanted)
    .sort((a, b) => literals(b) - literals(a))[0];
}

function literals({ segments }: Operation): number {
  return segments.filter(segment => !isParameter(segment)).length;
}

function commonComplaints({ headers }: Exchange): string[] {
  return [
    ...(headers['x-request-id'] === undefined ? ['X-Request-ID is missing'] : []),
    ...(headers['cache-control'] === 'no-store' ? [] : ['Cache-Control is not no-store']),
    ...(headers['x-content-type-options'] === 'nosniff' ? [] : ['X-Content-Type-Options is not nosniff']),
  ];
}

function wrongMethod({ status, headers, bytes }: Exchange): string[] {
  const { error } = (parse(bytes) ?? {}) as { error?: { code?: string } };
  return status === 405 && headers.allow !== undefined && error?.code === 'method_not_allowed'
    ? []
    : ['a method that is not documented is not answered with 405, Allow and method_not_allowed'];
}

/** Each response names its codes by its examples, and the operation names all of its codes. */
function unknownCode(operation: Operation, content: Place, code: string): string[] {
  const ofStatus = Object.keys((content.value.examples ?? {}) as Json);
  const ofOperation = operation.value['x-error-codes'] as readonly string[];
  return ofStatus.includes(code) && ofOperation.includes(code)
    ? []
    : [`the document does not name the code ${code} for this operation and status`];
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
