import type { CallToolResult } from '@modelcontextprotocol/server';
import { isRetryable } from '../contract/tools/retry.js';
import type { ToolSpec } from '../contract/tools/tool.js';
import { TOOLS, type ToolName } from '../contract/tools/tool-list.js';
import { type Failure, Refusal } from '../domain/errors.js';
import { inSlices, pauseIfLong } from '../lib/slices.js';
import type { McpDeps, ToolCaller } from './deps.js';
import { HANDLERS, type Handler, handlerOf } from './handlers.js';
import { refuseUnknown } from './read-arguments.js';
import { type Found, ResultBytes } from './result-bytes.js';
import { Quotation, withoutDelimiters } from './strangers.js';
import { isObject, type JsonObject } from './values.js';

/** The tool of this name; null where there is none, or where the operator has not allowed it. */
export function findTool(name: string, { allowsErasing }: Pick<McpDeps, 'allowsErasing'>): ToolName | null {
  if (!Object.hasOwn(TOOLS, name)) return null;
  const spec: ToolSpec = TOOLS[name as ToolName];
  return spec.isPermanent === true && !allowsErasing ? null : (name as ToolName);
}

/**
 * Calls a tool. Failures are results, too, so that the model sees them: an object with `code`, `message` and whether
 * trying again can help. Not an async function: that would hold the arguments until the answer.
 */
export function callTool(
  deps: McpDeps,
  caller: ToolCaller,
  name: ToolName,
  given: JsonObject,
): Promise<CallToolResult | ResultBytes> {
  const spec: ToolSpec = TOOLS[name];
  const isSafe = spec.annotations.readOnlyHint === true || typeof given.idempotency_key === 'string';
  const told = (error: unknown): CallToolResult => {
    if (error instanceof Refusal) return failureResult(error.failure, isSafe);
    deps.log.error({ tool: name, err: error }, 'a tool failed');
    const message = 'The tool failed and may have done a part. Check before you call it again.';
    return failureResult({ code: 'internal_error', message }, isSafe);
  };
  try {
    return start(deps, caller, name, given)
      .then(value => found(value, spec.quotesStrangers === true))
      .then(async found => {
        // The bytes of a long one are made in other turns of the loop.
        await pauseIfLong(found.json.length);
        return new ResultBytes(found);
      })
      .catch(told);
  } catch (error) {
    return Promise.resolve(told(error));
  }
}

function start(deps: McpDeps, caller: ToolCaller, name: ToolName, given: JsonObject): Promise<JsonObject> {
  const spec: ToolSpec = TOOLS[name];
  refuseUnknown(spec, given);
  const args = withoutDelimiters(given);
  return Promise.resolve(handlerFor(name, spec)(deps, caller, isObject(args) ? args : {}));
}

function handlerFor(name: ToolName, { operation }: ToolSpec): Handler {
  const handler = HANDLERS[name] ?? (operation === undefined ? undefined : handlerOf(operation));
  if (handler === undefined) throw new Error(`the tool ${name} has neither a handler nor an operation`);
  return handler;
}

async function found(value: JsonObject, quotesStrangers: boolean): Promise<Found> {
  const quotation = new Quotation();
  const shown = quotesStrangers ? await inSlices(quotation.quote(value)) : value;
  return { json: JSON.stringify(shown), note: quotation.note };
}

function failureResult(
  { code, message, details, beside, retryAfterS }: Failure,
  isSafe: boolean,
): CallToolResult {
  const failure = {
    code,
    message,
    retryable: isRetryable(code, isSafe),
    ...(retryAfterS === undefined ? {} : { retry_after_s: retryAfterS }),
    ...(details === undefined ? {} : { details }),
    ...beside,
  };
  // Not as structured content: clients hold that against the output schema.
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(failure) }] };
}
