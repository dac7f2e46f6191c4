import type { DnsAnswer } from '../dns/answer.js';
import { AnswerCache, type KeptAnswer } from '../dns/answer-cache.js';
import type { Dns } from '../dns/dns-client.js';
import type { DnsType } from '../dns/packet.js';
import type { Answer, Question } from './parse-protocol.js';

/** What a thread keeps; the main thread keeps more. */
const CACHE_BYTES = 2 * 2 ** 20;

/** The DNS for a parser thread: the main thread asks, and what it answers is kept here. */
export class ThreadDns implements Dns {
  readonly #post: (questions: readonly Question[]) => void;
  readonly #cache = new AnswerCache(CACHE_BYTES);
  /** Look-ups under way: who asks for the same gets the same answer. */
  readonly #open = new Map<string, Promise<DnsAnswer<DnsType>>>();
  readonly #waiting = new Map<number, (answer: KeptAnswer) => void>();
  #unasked: Question[] = [];
  #lastId = 0;

  /** @param post takes questions that come at once, in one post */
  constructor(post: (questions: readonly Question[]) => void) {
    this.#post = post;
  }

  async lookup<Type extends DnsType>(name: string, type: Type): Promise<DnsAnswer<Type>> {
    const key = `${type} ${name.toLowerCase()}`;
    const known = this.#cache.get(key)?.answer ?? (await (this.#open.get(key) ?? this.#ask(key, name, type)));
    // Whatever is kept under a key is of the type in that key.
    return known as DnsAnswer<Type>;
  }

  hear(answers: readonly Answer[]): void {
    for (const answer of answers) {
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    }
  }

  #ask(key: string, name: string, type: DnsType): Promise<DnsAnswer<DnsType>> {
    const id = ++this.#lastId;
    if (this.#unasked.length === 0) setImmediate(() => this.#flush());
    this.#unasked.push({ id, name, type });
    const answered = new Promise<KeptAnswer>(resolve => this.#waiting.set(id, resolve)).then(
      ({ answer, ttlS, replyBytes }) => {
        this.#open.delete(key);
        this.#cache.put(key, answer, ttlS, replyBytes);
        return answer;
      },
    );
    this.#open.set(key, answered);
    return answered;
  }

  #flush(): void {
    this.#post(this.#unasked);
    this.#unasked = [];
  }
}
