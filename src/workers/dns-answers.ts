import type { KeptAnswer } from '../dns/answer-cache.js';
import { type DnsClient, type DnsShares, type DnsTimes, failed } from '../dns/dns-client.js';
import { within } from '../lib/async.js';
import type { Answer, Question } from './parse-protocol.js';

/**
 * When so many look-ups in a row heard nothing from any resolver, only some are still made, for as many messages as come
 * at rest, and wait less, until one is answered: messages would pile up behind resolvers that answer nobody.
 */
const SILENT_LOOKUPS = 20;
const SHORT_MS = 200;
const PROBES_A_SECOND = 10;

/** For a client that is asked by parser threads: whoever waits longer is not waited for. */
export const checkTimes = (dnsMs: number): DnsTimes => ({ tryMs: (2 / 5) * dnsMs, totalMs: dnsMs });

/** One inbox, whose mail may ask about domains that keep silent, leaves places for the mail of others. */
export const CHECK_SHARES: DnsShares = { perParty: 20, turnMs: 1_000 };

/** Answers the questions of parser threads. */
export class DnsAnswers {
  readonly #dns: DnsClient;
  readonly #dnsMs: number;
  /** Look-ups in a row during which there was no reply to anybody. */
  #silent = 0;
  #probes = 0;
  #probesSince = Number.NEGATIVE_INFINITY;

  /** @param dnsMs how long one look-up may take */
  constructor(dns: DnsClient, dnsMs: number) {
    this.#dns = dns;
    this.#dnsMs = dnsMs;
  }

  /** @param post is given the answers, those that come at once together */
  hear(questions: readonly Question[], post: (answers: readonly Answer[]) => void): void {
    let ready: Answer[] = [];
    for (const question of questions) {
      void this.#lookup(question).then(answer => {
        if (ready.length === 0) {
          setImmediate(() => {
            post(ready);
            ready = [];
          });
        }
        ready.push({ id: question.id, ...answer });
      });
    }
  }

  async #lookup({ name, type, party }: Question): Promise<KeptAnswer> {
    const isSilent = this.#silent >= SILENT_LOOKUPS;
    if (isSilent && !this.#mayProbe()) return failed('no resolver answers');
    const before = this.#dns.replies;
    // What comes late counts for those that follow.
    const patienceMs = isSilent ? SHORT_MS : this.#dnsMs;
    const answer = await within(patienceMs, this.#dns.lookupLasting(name, type, party));
    if (this.#dns.replies !== before) this.#silent = 0;
    else if (answer === null || answer.answer.kind === 'failed') this.#silent++;
    return answer ?? failed('no answer in time');
  }

  #mayProbe(): boolean {
    const now = performance.now();
    if (now - this.#probesSince >= 1_000) {
      this.#probesSince = now;
      this.#probes = 0;
    }
    this.#probes++;
    return this.#probes <= PROBES_A_SECOND;
  }
}
