import type { KeptAnswer } from '../dns/answer-cache.js';
import type { DnsClient } from '../dns/dns-client.js';
import { within } from '../lib/async.js';
import { type Answer, CHECK_MS, type Question } from './parse-protocol.js';

/** When so many look-ups in a row heard nothing from any resolver, the next wait less, until one answers. */
const SILENT_LOOKUPS = 20;
const SHORT_MS = 200;

/** Answers the questions of parser threads. */
export class DnsAnswers {
  readonly #dns: DnsClient;
  /** Look-ups in a row during which there was no reply to anybody. */
  #silent = 0;

  constructor(dns: DnsClient) {
    this.#dns = dns;
  }

  /** @param post is given the answers, those that come at once together */
  hear(questions: readonly Question[], post: (answers: readonly Answer[]) => void): void {
    let ready: Answer[] = [];
    for (const { id, name, type } of questions) {
      void this.#lookup({ id, name, type }).then(answer => {
        if (ready.length === 0) {
          setImmediate(() => {
            post(ready);
            ready = [];
          });
        }
        ready.push({ ...answer, id });
      });
    }
  }

  async #lookup({ name, type }: Question): Promise<KeptAnswer> {
    const before = this.#dns.replies;
    // Messages would pile up behind resolvers that answer nobody. What comes late counts for those that follow.
    const patienceMs = this.#silent >= SILENT_LOOKUPS ? SHORT_MS : CHECK_MS;
    const answer = await within(patienceMs, this.#dns.lookupLasting(name, type));
    if (this.#dns.replies !== before) this.#silent = 0;
    else if (answer === null || answer.answer.kind === 'failed') this.#silent++;
    return answer ?? { answer: { kind: 'failed', reason: 'no answer in time' }, ttlS: 0, replyBytes: 0 };
  }
}
