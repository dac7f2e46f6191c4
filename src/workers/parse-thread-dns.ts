import type { DnsAnswer } from '../dns/answer.js';
import { AnswerCache, type KeptAnswer } from '../dns/answer-cache.js';
import type { Dns } from '../dns/dns-client.js';
import type { DnsType } from '../dns/packet.js';
import type { Answer, Question } from './parse-protocol.js';

/** What a thread keeps; the main thread keeps more. */
const CACHE_BYTES = 2 * 2 ** 20;

/** The DNS for a parser thread: the main thread asks, and what it answers is kept here. */
export class ThreadDns {
  readonly #post: (questions: readonly Question[]) => void;
  readonly #cache = new AnswerCache(CACHE_BYTES);
  readonly #waiting = new Map<number, (answer: KeptAnswer) => void>();
  #unasked: Question[] = [];
  #lastId = 0;

  /** @param post takes questions that come at once, in one post */
  constructor(post: (questions: readonly Question[]) => void) {
    this.#post = post;
  }

  /** @param party for whom is asked: parties share the questions that are open at once */
  for(party: string): Dns {
    return {
      lookup: async <Type extends DnsType>(name: string, type: Type): Promise<DnsAnswer<Type>> => {
        const question = { name: name.toLowerCase(), type, party };
        const { answer } = await this.#cache.obtain(question, () => this.#ask(question));
        // Whatever is kept under a key is of the type in that key.
        return answer as DnsAnswer<Type>;
      },
    };
  }

  hear(answers: readonly Answer[]): void {
    for (const answer of answers) {
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    }
  }

  #ask(question: Omit<Question, 'id'>): Promise<KeptAnswer> {
    const id = ++this.#lastId;
    if (this.#unasked.length === 0) setImmediate(() => this.#flush());
    this.#unasked.push({ id, ...question });
    return new Promise(resolve => this.#waiting.set(id, resolve));
  }

  #flush(): void {
    this.#post(this.#unasked);
    this.#unasked = [];
  }
}
