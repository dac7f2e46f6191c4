import type { Config } from '../config/load-config.js';
import { mcpRoute } from '../http/routes/mcp.js';
import { operationCaller } from '../http/server/call-operation.js';
import type { Route, ServedRoute } from '../http/server/route.js';
import { McpDoor } from '../mcp/mcp-door.js';
import type { Store } from '../store/engine/store.js';
import type { Logger } from '../usecases/ports.js';

/** The routes of the API, and beside them the tools for agents (`POST /mcp`), which are made of these. */
export function withTools(
  deps: {
    readonly config: Config;
    readonly version: string;
    readonly store: Store;
    readonly log: Logger;
  },
  api: readonly Route[],
): readonly ServedRoute[] {
  const { config, version, store, log } = deps;
  const tools = new McpDoor({
    service: config.service,
    version,
    store,
    limits: config.limits,
    operate: operationCaller(api, log),
    allowsErasing: config.mcp.allowErase,
    log,
  });
  return [...api, mcpRoute(request => tools.answer(request))];
}
