import { assignedMessageId } from '../../domain/assigned-ids.js';
import { codeOrReasonOf, settledWithin } from '../../lib/async.js';
import type { Logger, RelayAttempt, RelayOutcome } from '../../usecases/ports.js';
import { SessionFailure, stopping } from '../session/session-failure.js';
import { SessionOpening } from '../session/session-opening.js';
import { type Lease, SessionPool, type SessionRequest } from '../session/session-pool.js';
import { canGoOn, type TransactionEnd, wasDead } from '../session/transaction.js';
import type { Transport } from '../transport.js';
import type { SmarthostOptions } from './options.js';
import { outcomeOf, outcomeOfFailure } from './outcome.js';
import { planSession, readSecret } from './plan-session.js';
import { runTransaction } from './transaction.js';

/** All sessions are with one server. */
const KEY = 'smarthost';

/**
 * Submits to a smarthost (RFC 6409) over pooled sessions, each message at most once.
 *
 * There is one retry: the server may have closed a session that was used before, which only MAIL shows. Then it got
 * nothing of this message but the reverse-path, on a connection that is closed, so the message is sent over a new
 * session. Once MAIL has been answered nothing is retried, whatever happens.
 */
export class SmarthostTransport implements Transport {
  readonly #options: SmarthostOptions;
  readonly #log: Logger;
  readonly #pool: SessionPool;
  readonly #inFlight = new Set<Promise<RelayOutcome>>();
  #isClosed = false;

  constructor(options: SmarthostOptions, log: Logger) {
    this.#options = options;
    this.#log = log;
    this.#pool = new SessionPool({ ...options, maxPerParty: options.maxConnections });
  }

  async start(): Promise<void> {
    const { host, port, tls, passwordFile } = this.#options;
    this.#log.info({ host, port, tls }, 'mail to others goes through the smarthost');
    if (passwordFile === null) return;
    try {
      await readSecret(passwordFile);
    } catch (error) {
      this.#log.error(
        { file: passwordFile, error: codeOrReasonOf(error) },
        'the password of the smarthost cannot be read: mail to others is rejected until it can',
      );
    }
  }

  submit(attempt: RelayAttempt): Promise<RelayOutcome> {
    if (this.#isClosed) return Promise.resolve(outcomeOfFailure(stopping()));
    const submission = this.#submit(attempt);
    this.#inFlight.add(submission);
    const done = (): void => void this.#inFlight.delete(submission);
    submission.then(done, done);
    return submission;
  }

  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    this.#pool.retire();
    await settledWithin(graceMs, [...this.#inFlight, this.#pool.whenEmpty()]);
    this.#pool.end();
    await Promise.allSettled([...this.#inFlight, this.#pool.whenEmpty()]);
  }

  async #submit(attempt: RelayAttempt): Promise<RelayOutcome> {
    try {
      const end = await this.#deliver(attempt, [KEY]);
      const outcome = outcomeOf(end);
      const { host, keepsMessageId } = this.#options;
      if (end.end !== 'accepted' || keepsMessageId || outcome.status !== 'accepted') return outcome;
      return { ...outcome, assignedId: assignedMessageId(host, end.reply.text) };
    } catch (error) {
      if (!(error instanceof SessionFailure)) throw error;
      return outcomeOfFailure(error);
    }
  }

  /** @param reuse keys of sessions that were used before and may be used again */
  async #deliver(attempt: RelayAttempt, reuse: readonly string[]): Promise<TransactionEnd> {
    const lease = await this.#pool.acquire(this.#request(attempt, reuse));
    const end = await this.#transact(attempt, lease);
    // The outcome of the message does not wait for RSET or QUIT.
    void this.#pool.release(lease, end.end === 'refused');
    if (!lease.isReused || !wasDead(end)) return end;
    this.#log.debug({ id: attempt.id }, 'a kept connection to the smarthost was dead: another is opened');
    return this.#deliver(attempt, []);
  }

  async #transact(attempt: RelayAttempt, { session, isReused }: Lease): Promise<TransactionEnd> {
    const { reusedMs, commandMs } = this.#options;
    const mailMs = isReused ? Math.min(reusedMs, commandMs) : commandMs;
    let end: TransactionEnd | null = null;
    try {
      end = await runTransaction(session, attempt, { ...this.#options, mailMs });
      return end;
    } finally {
      // An unfinished message, or replies that no longer match the commands: the connection cannot be used again.
      if (end === null || !canGoOn(end)) session.destroy();
    }
  }

  #request({ envelope }: RelayAttempt, reuse: readonly string[]): SessionRequest {
    const { setupMs } = this.#options;
    const open = (): SessionOpening => new SessionOpening(setupMs, () => planSession(this.#options));
    return { party: envelope.from, key: KEY, reuse, open };
  }
}
