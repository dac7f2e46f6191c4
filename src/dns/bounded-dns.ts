import type { DnsAnswer } from './answer.js';
import type { Dns } from './dns-client.js';
import type { DnsType } from './packet.js';

export interface DnsBounds {
  readonly maxQuestions: number;
  /** For all of them together, from now on, in milliseconds. */
  readonly totalMs: number;
}

/**
 * The DNS for one piece of work, which may not ask or wait without end. What is over a bound is `failed`. To be closed when
 * the work is done.
 */
export class BoundedDns implements Dns {
  readonly #dns: Dns;
  readonly #timeIsUp: Promise<DnsAnswer<never>>;
  readonly #end: (answer: DnsAnswer<never>) => void;
  readonly #timer: NodeJS.Timeout;
  #left: number;

  constructor(dns: Dns, { maxQuestions, totalMs }: DnsBounds) {
    this.#dns = dns;
    this.#left = maxQuestions;
    let end: (answer: DnsAnswer<never>) => void = () => undefined;
    this.#timeIsUp = new Promise(resolve => {
      end = resolve;
    });
    this.#end = end;
    this.#timer = setTimeout(() => this.endNow(), totalMs);
  }

  /** What is asked and not answered has failed, and whatever is asked from now on. */
  endNow(): void {
    this.#left = 0;
    this.#end({ kind: 'failed', reason: 'no answer in time' });
  }

  async lookup<Type extends DnsType>(name: string, type: Type): Promise<DnsAnswer<Type>> {
    if (this.#left <= 0) return { kind: 'failed', reason: 'too many questions, or too late' };
    this.#left--;
    return Promise.race([this.#dns.lookup(name, type), this.#timeIsUp]);
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
