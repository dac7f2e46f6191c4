import { z } from 'zod';
import { BODY_BYTES } from '../limits.js';
import type { BodySpec } from '../operation.js';

/** Where programs speak the Model Context Protocol over HTTP. */
export const MCP_PATH = '/mcp';

/** A message of the protocol, as far as HTTP looks at it: as large as a send at most. */
export const MCP_BODY: BodySpec = {
  limitBytes: BODY_BYTES.message,
  schema: z.looseObject({}),
  invalid: 'invalid_request',
};
