import { randomBytes } from 'node:crypto';
import type { Clock } from '../usecases/ports.js';

/** What the provider's answer is held against. */
export interface FlowSecrets {
  readonly state: string;
  readonly nonce: string;
  /** Proof Key for Code Exchange (RFC 7636). */
  readonly codeVerifier: string;
}

/** As long as somebody may take to sign in. */
const LIFETIME_MS = 10 * 60_000;
const MAX_FLOWS = 10_000;

/** Sign-ins that have begun. The key is known to the browser that began it alone, and opens it once. */
export class SignInFlows {
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #flows = new Map<string, FlowSecrets & { readonly beganAt: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Keeps the secrets of a flow; its key is for the browser. When there are too many, the oldest is forgotten. */
  begin(secrets: FlowSecrets): string {
    const key = randomBytes(32).toString('base64url');
    this.#flows.set(key, { ...secrets, beganAt: this.#clock() });
    if (this.#flows.size > MAX_FLOWS) {
      const [oldest] = this.#flows.keys();
      if (oldest !== undefined) this.#flows.delete(oldest);
    }
    return key;
  }

  /** The secrets of a flow, this once; null when there is none, or none any more. */
  take(key: string): FlowSecrets | null {
    const flow = this.#flows.get(key);
    if (flow === undefined) return null;
    this.#flows.delete(key);
    return this.#clock() - flow.beganAt > LIFETIME_MS ? null : flow;
  }
}
