import {
  Ajv2020,
  type AnySchemaObject,
  type ErrorObject,
  type ValidateFunction,
} from '@redocly/ajv/dist/2020.js';

export type Json = { readonly [key: string]: unknown };

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * The schemas of a published document, checked by a JSON Schema validator that is not the library they were
 * made with. Schemas are named by JSON pointers into the document.
 */
export class ContractSchemas {
  readonly #asPublished: Ajv2020;
  readonly #closed: Ajv2020;
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor(document: Json) {
    this.#asPublished = validatorOf(document);
    this.#closed = validatorOf(close(document, false) as Json);
  }

  /** What is wrong with what a client sent. */
  complaintsOfInput(pointer: string, value: unknown): string[] {
    return this.#complain(this.#asPublished, pointer, value);
  }

  /**
   * What is wrong with what the service said. The document leaves room for further members, so that clients
   * live with them; a service that sends one that the document does not name has forgotten it there.
   */
  complaintsOfOutput(pointer: string, value: unknown): string[] {
    return this.#complain(this.#closed, pointer, value);
  }

  #complain(ajv: Ajv2020, pointer: string, value: unknown): string[] {
    const key = `${ajv === this.#closed} ${pointer}`;
    let validate = this.#compiled.get(key);
    if (validate === undefined) {
      validate = ajv.compile({ $ref: `contract#${pointer}` });
      this.#compiled.set(key, validate);
    }
    return validate(value) ? [] : (validate.errors ?? []).map(describe);
  }
}

function validatorOf(document: Json): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addFormat('date-time', text => DATE_TIME.test(text) && !Number.isNaN(Date.parse(text)));
  ajv.addFormat('uri-reference', text => URL.canParse(text, 'http://localhost'));
  ajv.addKeyword({
    keyword: 'x-max-utf8-bytes',
    type: 'string',
    validate: (max: number, text: string, schema?: AnySchemaObject) =>
      Buffer.byteLength(schema?.['x-trimmed'] === true ? text.trim() : text) <= max,
  });
  ajv.addSchema({ ...document, $id: 'contract' });
  return ajv;
}

/** The same with every object closed that names its members. What a member of `allOf` adds is no whole object. */
function close(node: unknown, isPart: boolean): unknown {
  if (Array.isArray(node)) return node.map(item => close(item, isPart));
  if (typeof node !== 'object' || node === null) return node;
  const closed = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, close(value, key === 'allOf')]),
  );
  const isOpen = closed.type === 'object' && 'properties' in closed && !('additionalProperties' in closed);
  return isOpen && !isPart ? { ...closed, additionalProperties: false } : closed;
}

function describe({ instancePath, message, params }: ErrorObject): string {
  return `${instancePath || 'it'} ${message ?? 'is wrong'} ${JSON.stringify(params)}`;
}
