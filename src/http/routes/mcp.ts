import type { IncomingHttpHeaders } from 'node:http';
import { MCP_BODY, MCP_PATH } from '../../contract/tools/endpoint.js';
import type { AccountRecord } from '../../store/records/accounts.js';
import type { WaitingClient } from '../../usecases/events/waiters.js';
import type { Hand } from '../../usecases/shared/in-hand.js';
import type { ServedRoute } from '../server/route.js';

/** Answers one message of the Model Context Protocol (`src/mcp`). */
export type AnswerMcp = (request: {
  readonly account: AccountRecord;
  readonly hand: Hand | null;
  readonly headers: IncomingHttpHeaders;
  readonly waiting: WaitingClient;
  readonly message: Readonly<Record<string, unknown>>;
}) => Promise<{ readonly status: number; readonly bytes: readonly Uint8Array[] }>;

/**
 * `POST /mcp` (MCP, "Transports", Streamable HTTP): stateless, so that there is nothing to GET and no session to
 * DELETE. It is no operation of the API, and not in `/openapi.json`.
 */
export function mcpRoute(answer: AnswerMcp): ServedRoute {
  return {
    method: 'POST',
    path: MCP_PATH,
    auth: 'bearer',
    body: MCP_BODY,
    isOwnOriginOnly: true,
    isWaiting: true,
    // Large messages are sends and drafts: when there is no room for one it is told as there.
    uncertain: 'outbound_unavailable',
    // Not an async function: that would hold the message until the answer.
    handle: ({ account, hand, headers, requester: waiting, body }) =>
      answer({ account, hand, headers, waiting, message: body as Readonly<Record<string, unknown>> }).then(
        ({ status, bytes }) => {
          const size = bytes.reduce((sum, { length }) => sum + length, 0);
          return { kind: 'json-bytes', status, stream: { size, bytes } };
        },
      ),
  };
}
