import type { HookReason } from '../../contract/webhooks.js';

/** One event for one endpoint, to be sent once. */
export interface HookCall {
  readonly url: string;
  /** Of the event: the same whenever it is sent (`webhook-id`). */
  readonly id: string;
  /** When this is sent, in milliseconds (`webhook-timestamp`). */
  readonly at: number;
  /** It is signed with each of these. */
  readonly secrets: readonly string[];
  /** UTF-8 JSON. */
  readonly body: string;
}

export type HookOutcome =
  /** A 2xx status. */
  | { readonly kind: 'taken'; readonly status: number }
  | {
      readonly kind: 'failed';
      /** HTTP status; null when there was no answer. */
      readonly status: number | null;
      readonly reason: HookReason;
      /** For how long the endpoint asks not to be called (RFC 9110 section 10.2.3); null when it does not. */
      readonly retryAfterMs: number | null;
    }
  /** This was no attempt, because the service is being stopped: nothing is known of the endpoint. */
  | { readonly kind: 'stopped' };

/** Sends events to the endpoints of others. Never rejects, and takes some ten seconds at most. */
export interface HookCaller {
  call(call: HookCall): Promise<HookOutcome>;
}
