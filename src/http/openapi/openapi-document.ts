import { type Operation, TAGS, type Tag } from '../../contract/operation.js';
import type { JsonObject } from '../../contract/schema-book.js';
import { ComponentBook } from './component-book.js';
import { operationObject } from './operation-object.js';

/** Version of the API, not of the software. */
const API_VERSION = '1.0.0';

const DESCRIPTION = `Email for AI agents.

- Every operation under \`/v1\` takes \`Authorization: Bearer <key>\`, unless it says otherwise. A key reaches all
  inboxes of its account. What belongs to another account is answered like what does not exist: \`404\`.
- Bodies are JSON objects in UTF-8, sent with \`Content-Type: application/json\`; unknown fields are refused. So are
  unknown query parameters, and repeated ones that take one value. An uploaded file alone is sent as its bytes.
- Errors are \`{"error": {"code", "message"}}\`. Branch on the code; handle an unknown one by its status.
  \`x-error-codes\` names the codes of each operation. A request that cannot be read is answered before it has come to
  one: \`400\` (\`invalid_request\`, no well-formed HTTP), \`408\` (\`request_timeout\`, too slow) or \`431\`
  (\`headers_too_large\`, request line and headers over 64 KiB).
- Every answer carries \`X-Request-ID\`, \`Cache-Control: no-store\` and \`X-Content-Type-Options: nosniff\`.
- \`HEAD\` answers like \`GET\`, without a body. A path that does not take a method answers \`405\`
  (\`method_not_allowed\`) with \`Allow\`.
- Lists are live views. Follow \`next_cursor\` until it is null; keep the path, filters and order the same.
- \`x-extension\` marks what this service has beyond the contract that it shares with others.
- \`x-null-means\` says what null stands for in an optional field of a body that does not take it: the field left out, or
  emptied.
- \`x-max-utf8-bytes\` bounds a string in bytes of UTF-8. White space around it counts, except where \`x-trimmed\` says
  that it is dropped. \`x-request-body-limit\` bounds a body in bytes.`;

export interface DescribedService {
  readonly name: string;
  readonly publicUrl: string;
}

/**
 * `/openapi.json`: OpenAPI 3.1 of the operations that are served. Equal operations give the same document byte for
 * byte. Throws when an operation lacks something that the document needs.
 */
export function openApiDocument(operations: readonly Operation[], service: DescribedService): JsonObject {
  const book = new ComponentBook();
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const operation of operations) {
    const { path, method } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationObject(operation, book) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: `${service.name} API`,
      version: API_VERSION,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: service.publicUrl }],
    security: [{ bearerAuth: [] }],
    tags: tagsOf(operations),
    paths,
    components: {
      securitySchemes: {
        bearerAuth: { type: 'http', scheme: 'bearer', description: 'An API key; it starts with pst_.' },
      },
      ...book.components(),
    },
  };
}

function tagsOf(operations: readonly Operation[]): JsonObject[] {
  const used = new Set<Tag>(operations.map(({ tag }) => tag));
  return (Object.keys(TAGS) as Tag[])
    .filter(tag => used.has(tag))
    .map(name => ({ name, description: TAGS[name] }));
}
