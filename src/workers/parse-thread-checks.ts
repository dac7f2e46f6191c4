import { isIP } from 'node:net';
import type { ParsedAddress } from '../contract/messages.js';
import { BoundedDns } from '../dns/bounded-dns.js';
import { recordsOrThrow } from '../dns/records-or-throw.js';
import { lookUpReverse } from '../dns/reverse.js';
import type { Authentication, IprevCheck, Origin } from '../domain/authentication.js';
import { unknownAuthentication } from '../domain/verdict.js';
import type { Lookups } from '../mail/authenticate/lookups.js';
import { MessageCheck } from '../mail/authenticate/message-check.js';
import type { Asked, ChecksSetup } from './parse-protocol.js';
import type { ThreadDns } from './parse-thread-dns.js';

/**
 * Questions to the DNS for one message. SPF may take 10 look-ups with 10 addresses each, of two kinds; nobody's does, and
 * ten signatures with a policy and a chain leave room for a hundred.
 */
const MAX_QUESTIONS = 150;
/** Checks that wait for the DNS at once; each holds some kilobytes. */
const MAX_WAITING = 500;
/**
 * Beside parsing, a message whose domains keep silent takes the place of another that waits to be parsed. From this time
 * on (milliseconds; nearly all domains answer sooner) only so many may wait, of all inboxes and of one; of the others it
 * is looked for later who has written them.
 */
const SLOW_MS = 500;
const MAX_SLOW = { all: 32, perOwner: 8 } as const;

/** Finds out in a parser thread who has written messages, with answers of the DNS that it keeps. */
export class ThreadChecks {
  readonly #setup: ChecksSetup;
  readonly #dns: ThreadDns;
  /** How many checks of an owner have waited for long. */
  readonly #slow = new Map<string, number>();
  #allSlow = 0;
  #waiting = 0;

  constructor(setup: ChecksSetup, dns: ThreadDns) {
    this.#setup = setup;
    this.#dns = dns;
  }

  begin(origin: Origin, asked: Asked): RunningCheck {
    const options = { origin, nowMs: Date.now(), trustedSealers: this.#setup.trustedSealers };
    return new RunningCheck(new MessageCheck(options), check => this.#run(check, asked));
  }

  async #run(
    finish: (lookups: Lookups) => Promise<Authentication>,
    { owner, isCheckOnly, isHurried }: Asked,
  ): Promise<Authentication> {
    if (this.#waiting >= MAX_WAITING) return unknownAuthentication('too much else waits for the DNS.');
    const bounds = { maxQuestions: MAX_QUESTIONS, totalMs: this.#setup.dnsMs };
    const dns = new BoundedDns(this.#dns.for(owner), bounds);
    let isSlow = false;
    const judge = (): void => {
      isSlow = !isHurried && this.#mayBeSlow(owner);
      if (!isSlow) dns.endNow();
    };
    const timer = isCheckOnly ? undefined : setTimeout(judge, SLOW_MS);
    this.#waiting++;
    try {
      return await finish({
        resolve: (name, type) => recordsOrThrow(dns, name, type),
        reverse: address => confirmReverse(dns, address),
      });
    } finally {
      this.#waiting--;
      clearTimeout(timer);
      if (isSlow) this.#endSlow(owner);
      dns.close();
    }
  }

  #mayBeSlow(owner: string): boolean {
    const ofOwner = this.#slow.get(owner) ?? 0;
    if (ofOwner >= MAX_SLOW.perOwner || this.#allSlow >= MAX_SLOW.all) return false;
    this.#slow.set(owner, ofOwner + 1);
    this.#allSlow++;
    return true;
  }

  #endSlow(owner: string): void {
    const left = (this.#slow.get(owner) ?? 0) - 1;
    if (left > 0) this.#slow.set(owner, left);
    else this.#slow.delete(owner);
    this.#allSlow--;
  }
}

async function confirmReverse(dns: BoundedDns, address: string): Promise<IprevCheck> {
  const plain = address.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
  if (isIP(plain) === 0) return { result: 'none', name: null };
  const found = await lookUpReverse(dns, plain);
  if (found.kind === 'confirmed') return { result: 'pass', name: found.name };
  if (found.kind === 'failed') return { result: 'temperror', name: null };
  return { result: found.names.length > 0 ? 'fail' : 'none', name: null };
}

/** The check of one message. A fault in it never becomes one of the parse beside it. */
export class RunningCheck {
  readonly #check: MessageCheck;
  readonly #run: (finish: (lookups: Lookups) => Promise<Authentication>) => Promise<Authentication>;
  #hasFailed = false;

  constructor(
    check: MessageCheck,
    run: (finish: (lookups: Lookups) => Promise<Authentication>) => Promise<Authentication>,
  ) {
    this.#check = check;
    this.#run = run;
  }

  feed(bytes: Uint8Array): void {
    try {
      if (!this.#hasFailed) this.#check.feed(bytes);
    } catch {
      this.#hasFailed = true;
    }
  }

  /** @param shown as for `MessageCheck`. Never rejects. */
  async finish(shown?: ParsedAddress | null): Promise<Authentication> {
    if (this.#hasFailed) return unknownAuthentication('the check failed.');
    try {
      return await this.#run(lookups => this.#check.finish(lookups, shown));
    } catch {
      return unknownAuthentication('the check failed.');
    }
  }
}
