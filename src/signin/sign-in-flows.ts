import { randomBytes } from 'node:crypto';
import type { Clock } from '../usecases/ports.js';

/** The provider's answer is checked against these. */
export interface FlowSecrets {
  readonly state: string;
  readonly nonce: string;
  /** Proof Key for Code Exchange (RFC 7636). */
  readonly codeVerifier: string;
}

/** How long a human may take to sign in. */
const LIFETIME_MS = 10 * 60_000;
const MAX_FLOWS = 10_000;

/** Sign-ins that have begun. Only the browser that began one knows its key, which can be used once. */
export class SignInFlows {
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #flows = new Map<string, FlowSecrets & { readonly beganAt: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Keeps the secrets of a flow and returns its key, for the browser. With too many flows, the oldest is dropped. */
  begin(secrets: FlowSecrets): string {
    const key = randomBytes(32).toString('base64url');
    this.#flows.set(key, { ...secrets, beganAt: this.#clock() });
    if (this.#flows.size > MAX_FLOWS) {
      const [oldest] = this.#flows.keys();
      if (oldest !== undefined) this.#flows.delete(oldest);
    }
    return key;
  }

  /** Removes a flow and returns its secrets; null when the key is unknown, used, or older than ten minutes. */
  take(key: string): FlowSecrets | null {
    const flow = this.#flows.get(key);
    if (flow === undefined) return null;
    this.#flows.delete(key);
    return this.#clock() - flow.beganAt > LIFETIME_MS ? null : flow;
  }
}
