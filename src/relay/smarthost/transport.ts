import { assignedMessageId } from '../../domain/assigned-ids.js';
import { codeOrReasonOf, settledWithin } from '../../lib/async.js';
import type { Logger, RelayAttempt, RelayOutcome } from '../../usecases/ports.js';
import type { Transport } from '../transport.js';
import { readSecret, SessionOpening } from './open-session.js';
import type { SmarthostOptions } from './options.js';
import { outcomeOf, rejected } from './outcome.js';
import { SessionFailure } from './session-failure.js';
import { type Lease, SessionPool } from './session-pool.js';
import { runTransaction, type TransactionEnd } from './transaction.js';

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

  constructor(options: SmarthostOptions, log: Logger) {
    this.#options = options;
    this.#log = log;
    this.#pool = new SessionPool(() => new SessionOpening(options), options);
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
    const submission = this.#submit(attempt);
    this.#inFlight.add(submission);
    const done = (): void => void this.#inFlight.delete(submission);
    submission.then(done, done);
    return submission;
  }

  async close(graceMs: number): Promise<void> {
    this.#pool.retire();
    await settledWithin(graceMs, [...this.#inFlight, this.#pool.whenEmpty()]);
    this.#pool.end();
    await Promise.allSettled([...this.#inFlight, this.#pool.whenEmpty()]);
  }

  async #submit(attempt: RelayAttempt): Promise<RelayOutcome> {
    try {
      const lease = await this.#pool.acquire(attempt.envelope.from);
      const end = await this.#deliver(attempt, lease);
      const outcome = outcomeOf(end);
      const { host, keepsMessageId } = this.#options;
      if (end.end !== 'accepted' || keepsMessageId || outcome.status !== 'accepted') return outcome;
      return { ...outcome, assignedId: assignedMessageId(host, end.reply.text) };
    } catch (error) {
      if (!(error instanceof SessionFailure)) throw error;
      return rejected(error.errorCode, error.detail);
    }
  }

  async #deliver(attempt: RelayAttempt, { session, isReused }: Lease): Promise<TransactionEnd> {
    const { reusedMs, commandMs } = this.#options;
    let end: TransactionEnd;
    try {
      const mailMs = isReused ? Math.min(reusedMs, commandMs) : commandMs;
      end = await runTransaction(session, attempt, { ...this.#options, mailMs });
    } catch (error) {
      session.destroy();
      void this.#pool.release(session, false);
      throw error;
    }
    if (isReused && wasDead(end)) {
      this.#log.debug({ id: attempt.id }, 'a kept connection to the smarthost was dead: another is opened');
      return this.#deliver(attempt, { session: await this.#pool.replace(session), isReused: false });
    }
    // An unfinished message, or replies that no longer match the commands: the connection cannot be used again.
    if (!canGoOn(end)) session.destroy();
    // The outcome of the message does not wait for RSET or QUIT.
    void this.#pool.release(session, end.end === 'refused');
    return end;
  }
}

/** Can the session carry another message? */
function canGoOn(end: TransactionEnd): boolean {
  if (end.end === 'refused') return end.at.step !== 'CONTENT' && end.reply.code !== 421;
  return end.end === 'accepted' || end.end === 'oversize';
}

/** Had the server closed the session before MAIL? It was lost before the reply to MAIL, or the reply was 421. */
function wasDead(end: TransactionEnd): boolean {
  if (end.end === 'lost') return end.at.step === 'MAIL' && end.reason !== 'stopped';
  return end.end === 'refused' && end.at.step === 'MAIL' && end.reply.code === 421;
}
