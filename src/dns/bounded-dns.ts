import { within } from '../lib/async.js';
import type { DnsAnswer } from './answer.js';
import type { Dns } from './dns-client.js';
import type { DnsType } from './packet.js';

export interface DnsBounds {
  readonly maxQuestions: number;
  /** For all of them together, from now on, in milliseconds. */
  readonly totalMs: number;
}

/** The DNS for one piece of work, which may not ask or wait without end. What is over a bound is `failed`. */
export class BoundedDns implements Dns {
  readonly #dns: Dns;
  readonly #endsAt: number;
  #left: number;

  constructor(dns: Dns, { maxQuestions, totalMs }: DnsBounds) {
    this.#dns = dns;
    this.#left = maxQuestions;
    this.#endsAt = performance.now() + totalMs;
  }

  async lookup<Type extends DnsType>(name: string, type: Type): Promise<DnsAnswer<Type>> {
    if (this.#left <= 0) return { kind: 'failed', reason: 'too many questions' };
    this.#left--;
    const leftMs = this.#endsAt - performance.now();
    const answer = leftMs <= 0 ? null : await within(leftMs, this.#dns.lookup(name, type));
    return answer ?? { kind: 'failed', reason: 'no answer in time' };
  }
}
