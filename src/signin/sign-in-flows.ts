import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
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
const INSTANT_BYTES = 6;
const RANDOM_BYTES = 10;
const MAC_BYTES = 16;
/** `INSTANT_BYTES`, `RANDOM_BYTES` and `MAC_BYTES` in base64url. */
const KEY = /^[A-Za-z0-9_-]{43}$/;

/**
 * Sign-ins that have begun, none of which is kept here: strangers who begin any number of them take up no memory and
 * push nobody else's out. The browser keeps the key of its flow in a cookie, which holds the instant and random bytes
 * under a MAC; the secrets are derived from it with a secret that only this process has.
 *
 * A key opens its flow until it is ten minutes old. That a sign-in counts once is for the provider: it takes each
 * authorization code once (RFC 6749 section 4.1.2), and only with the state and the verifier of the browser's own flow.
 */
export class SignInFlows {
  readonly #clock: Clock;
  /** Of this process: flows do not outlive it. */
  readonly #secret = randomBytes(32);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A new flow: its key, for the browser alone, and its secrets. */
  begin(): { readonly key: string; readonly secrets: FlowSecrets } {
    const content = Buffer.alloc(INSTANT_BYTES + RANDOM_BYTES);
    content.writeUIntBE(this.#clock(), 0, INSTANT_BYTES);
    randomBytes(RANDOM_BYTES).copy(content, INSTANT_BYTES);
    const mac = this.#derived('mac', content).subarray(0, MAC_BYTES);
    return { key: Buffer.concat([content, mac]).toString('base64url'), secrets: this.#secretsOf(content) };
  }

  /** The secrets of a flow; null when the key is not one of this process, or older than ten minutes. */
  open(key: string): FlowSecrets | null {
    if (!KEY.test(key)) return null;
    const bytes = Buffer.from(key, 'base64url');
    const content = bytes.subarray(0, -MAC_BYTES);
    const mac = this.#derived('mac', content).subarray(0, MAC_BYTES);
    if (!timingSafeEqual(mac, bytes.subarray(-MAC_BYTES))) return null;
    // A clock that was set back makes no flow last longer either.
    const ageMs = Math.abs(this.#clock() - content.readUIntBE(0, INSTANT_BYTES));
    return ageMs > LIFETIME_MS ? null : this.#secretsOf(content);
  }

  #secretsOf(content: Buffer): FlowSecrets {
    const secret = (purpose: string): string => this.#derived(purpose, content).toString('base64url');
    return { state: secret('state'), nonce: secret('nonce'), codeVerifier: secret('code verifier') };
  }

  #derived(purpose: string, content: Buffer): Buffer {
    return createHmac('sha256', this.#secret).update(`${purpose}\0`).update(content).digest();
  }
}
