import type { AccountRecord } from '../../store/records/accounts.js';
import type { WaitingClient } from '../events/waiters.js';
import type { IncomingBytes } from '../uploads/file-uploads.js';
import type { ByteStream } from './contents.js';
import type { Hand } from './in-hand.js';

/** An operation of the API, asked for by another door than HTTP: what a request for it would say. */
export interface OperationCall {
  readonly account: AccountRecord;
  /** Values of the named segments of its path. */
  readonly params: Readonly<Record<string, string>>;
  /** Names and values; a list repeats its name. */
  readonly query: readonly (readonly [name: string, value: string])[];
  /** What the JSON body would be; it is validated. */
  readonly body: Readonly<Record<string, unknown>>;
  /** In place of a body, where the operation takes bytes; else null. */
  readonly bytes: IncomingBytes | null;
  /** What the request has in memory. */
  readonly hand: Hand | null;
  /** The client whose answer an operation that waits may hold back. */
  readonly waiting: WaitingClient;
}

/** The answer to a successful one: an object, or JSON that is encoded already. */
export type OperationAnswer =
  | { readonly kind: 'object'; readonly value: object }
  | { readonly kind: 'json-bytes'; readonly stream: ByteStream };

/**
 * Carries out an operation for another door, with the checks, limits and errors that it has over HTTP. Rejects with a
 * `Refusal` and with nothing else. Not an async function: that would hold the body in memory until the answer.
 */
export type CallOperation = (operationId: string, call: OperationCall) => Promise<OperationAnswer>;
