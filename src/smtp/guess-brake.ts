import type { SmtpListenerOptions } from './smtp-listener-options.js';

type GuessLimits = Pick<SmtpListenerOptions, 'maxUnknownRecipients' | 'unknownRecipientDelayMs'>;

/** Unknown recipients that are answered without delay: a typing error, an address that has gone stale. */
const PROMPT = 2;

/**
 * Makes guessing addresses slow and soon over, in one session. The client has to wait for each late
 * reply, because nothing behind it is read before.
 */
export class GuessBrake {
  readonly #limits: GuessLimits;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: GuessLimits) {
    this.#limits = limits;
  }

  /** One more unknown recipient: calls `answer`, at once or later, unless it is one too many. */
  allows(answer: () => void): boolean {
    const { maxUnknownRecipients, unknownRecipientDelayMs } = this.#limits;
    this.#count += 1;
    if (this.#count > maxUnknownRecipients) return false;
    if (this.#count <= PROMPT || unknownRecipientDelayMs === 0) answer();
    else this.#timer = setTimeout(answer, unknownRecipientDelayMs);
    return true;
  }

  /** The session is over: nothing is called any more. */
  release(): void {
    clearTimeout(this.#timer);
  }
}
