import type { Store } from '../store/engine/store.js';
import type { AccountRecord } from '../store/records/accounts.js';
import type { DefaultLimits } from '../usecases/accounts/accounts.js';
import type { WaitingClient } from '../usecases/events/waiters.js';
import type { Logger } from '../usecases/ports.js';
import type { Hand } from '../usecases/shared/in-hand.js';
import type { CallOperation } from '../usecases/shared/operation-call.js';

export interface McpDeps {
  readonly service: { readonly name: string; readonly publicUrl: string };
  readonly version: string;
  readonly store: Store;
  readonly limits: DefaultLimits;
  /** The operations of the API. */
  readonly operate: CallOperation;
  /** Whether there are tools that delete for good (`mcp.allow_erase`). */
  readonly allowsErasing: boolean;
  readonly log: Logger;
}

/** Who calls a tool. */
export interface ToolCaller {
  readonly account: AccountRecord;
  readonly hand: Hand | null;
  /** The client whose answer a tool that waits may hold back. */
  readonly waiting: WaitingClient;
}
