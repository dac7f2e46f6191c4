import { isAscii } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import { isEmailAddress, toInboxAddress } from '../domain/addresses.js';
import { MAX_LINE_OCTETS } from '../domain/message-parts.js';
import { settledWithin } from '../lib/async.js';
import { asBuffer, BYTE } from '../lib/bytes.js';
import type { Logger, Relay, RelayAttempt, RelayOutcome } from '../usecases/ports.js';
import type { LocalDelivery, StagedMail } from './local-delivery.js';
import { withFinalLineEnd } from './session/content.js';
import { rejected, unknown } from './smarthost/outcome.js';
import type { Transport } from './transport.js';

/**
 * Splits the recipients of a message: those in our own mail domains are inboxes of this store and get it in process;
 * all others get it through the transport that the operator chose.
 *
 * All or nothing, as far as that is possible without a commit in common. `rejected` means that nobody has the message,
 * `accepted` that the inboxes here and the transport both have it. So everything that can be refused is asked before
 * anything is handed to a party that cannot take it back:
 *
 * 1. The local recipients are looked up, and the bytes are written to the store without a commit. An unknown
 *    recipient, a full disk or a failing store ends the attempt with nothing sent.
 * 2. The transport submits to the other recipients, at most once. Unless the outcome is `accepted`, the local copy is
 *    discarded and the transport's outcome is the outcome of the message.
 * 3. Only then is the local copy committed: one unit of work in our own store, with bytes that are already there, for
 *    inboxes that existed a moment ago. It comes last because it is the least likely to fail. If it fails all the
 *    same, the others have the message and somebody here does not. The outcome is then `unknown`: neither of the
 *    other two would be true, and `unknown` is never sent again.
 *
 * The other way round, a refusal by the smarthost, which is common, would come when a local inbox already has the
 * message and its agent may have read it.
 */
export class SplitRelay implements Relay {
  readonly #options: SplitRelayOptions;
  readonly #inFlight = new Set<Promise<RelayOutcome>>();
  #isClosed = false;

  constructor(options: SplitRelayOptions) {
    this.#options = options;
  }

  submit(attempt: RelayAttempt): Promise<RelayOutcome> {
    const submission = this.#submit(attempt);
    this.#inFlight.add(submission);
    void submission.finally(() => this.#inFlight.delete(submission));
    return submission;
  }

  wayOf(recipients: readonly string[]): RelayWay {
    const isLocal = this.#options.outside === null || recipients.every(recipient => this.#isOurs(recipient));
    return isLocal ? 'local' : 'outside';
  }

  async start(): Promise<void> {
    await this.#options.outside?.start();
  }

  /** Rejects new messages. Submissions in flight may finish within `graceMs`; then their connections are closed. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    const endsAtMs = performance.now() + graceMs;
    await settledWithin(graceMs, this.#inFlight);
    await this.#options.outside?.close(Math.max(0, endsAtMs - performance.now()));
    await Promise.all(this.#inFlight);
  }

  /** Turns whatever happens into an outcome. After an unexpected error of our own only `unknown` is true. */
  async #submit(attempt: RelayAttempt): Promise<RelayOutcome> {
    const startedAtMs = performance.now();
    let outcome: RelayOutcome;
    try {
      outcome = this.#isClosed
        ? rejected('E_RELAY_UNREACHABLE', 'the service is being stopped')
        : await this.#deliver(attempt);
    } catch (error) {
      this.#options.log.error({ id: attempt.id, err: error }, 'a submission failed in an unforeseen way');
      outcome = unknown('a fault of this service; its log says more');
    }
    this.#logOutcome(attempt, outcome, performance.now() - startedAtMs);
    return outcome;
  }

  async #deliver(attempt: RelayAttempt): Promise<RelayOutcome> {
    const refusal = await checkAttempt(attempt);
    if (refusal !== null) return refusal;
    const { outside, local } = this.#options;
    const { from, recipients } = attempt.envelope;
    const content = withFinalLineEnd(attempt.content);
    const here = recipients.filter(recipient => this.#isOurs(recipient));
    const others = recipients.filter(recipient => !this.#isOurs(recipient));
    if (outside === null && others.length > 0) {
      const detail = `${others.length} of the recipients are not of this service, and relay.transport is "local"`;
      return rejected('E_RELAY_UNREACHABLE', detail);
    }
    const toOthers = { ...attempt, envelope: { from, recipients: others }, content };
    if (here.length === 0 && outside !== null) return outside.submit(toOthers);
    const staged = await local.stage(from, here, content, attempt.isNotice);
    if (!staged.ok) return staged.outcome;
    return others.length === 0 || outside === null
      ? staged.mail.commit()
      : submitThenCommit(outside, toOthers, staged.mail);
  }

  #isOurs(address: string): boolean {
    const domain = toInboxAddress(address)?.domain;
    return domain !== undefined && this.#options.domains.includes(domain);
  }

  /** Logs ids, codes, counts, and the server's words with addresses removed. */
  #logOutcome({ id, envelope }: RelayAttempt, outcome: RelayOutcome, tookMs: number): void {
    const { log } = this.#options;
    const fields = {
      id,
      status: outcome.status,
      recipients: envelope.recipients.length,
      took_ms: Math.round(tookMs),
      detail: outcome.detail.replace(/[^\s<>"'(),:;]+@[^\s<>"'(),:;]+/g, '(address)'),
    };
    if (outcome.status === 'accepted') log.info(fields, 'message handed over');
    else log.warn({ ...fields, error_code: outcome.errorCode }, 'message not handed over');
  }
}

/** `local`: ends within this process. `outside`: waits for the transport, whoever else gets the message. */
export type RelayWay = 'local' | 'outside';

export interface SplitRelayOptions {
  /** Our mail domains, in lower case and as A-labels (RFC 5890). */
  readonly domains: readonly string[];
  readonly local: LocalDelivery;
  /** The transport to all other domains; null when there is none. */
  readonly outside: Transport | null;
  readonly log: Logger;
}

async function submitThenCommit(
  outside: Transport,
  attempt: RelayAttempt,
  here: StagedMail,
): Promise<RelayOutcome> {
  let outcome: RelayOutcome | null = null;
  try {
    outcome = await outside.submit(attempt);
  } finally {
    if (outcome?.status !== 'accepted') here.abort();
  }
  if (outcome.status !== 'accepted') return outcome;
  const own = await here.commit();
  return own.status === 'accepted'
    ? { ...outcome, detail: `${outcome.detail}; ${own.detail}` }
    : unknown(`handed to the relay (${outcome.detail}), but not delivered here: ${own.detail}`);
}

/** How much content is checked in one turn of the event loop. */
const PIECE_BYTES = 1024 * 1024;
/** Lines shorter than this are compared byte by byte, which is faster than two native searches. */
const SHORT_LINE = 16;
const { NUL, LF, CR } = BYTE;

/**
 * The last check before a message leaves: envelope addresses are bare ASCII addresses, which cannot smuggle in a second
 * SMTP command, and the content is 7-bit with CRLF line ends and lines of legal length.
 * @returns the outcome that refuses the message, or null
 */
export async function checkAttempt({ envelope, content }: RelayAttempt): Promise<RelayOutcome | null> {
  if (envelope.from !== '' && !isEmailAddress(envelope.from)) {
    return rejected('E_SENDER_REJECTED', 'the sender is not a bare ASCII address; nothing was sent');
  }
  if (envelope.recipients.length === 0) {
    return rejected('E_RECIPIENT_REJECTED', 'there are no recipients; nothing was sent');
  }
  const wrong = envelope.recipients.findIndex(recipient => !isEmailAddress(recipient));
  if (wrong >= 0) {
    const detail = `recipient ${wrong + 1} is not a bare ASCII address; nothing was sent`;
    return rejected('E_RECIPIENT_REJECTED', detail);
  }
  const fault = await contentFault(content);
  return fault === null ? null : rejected('E_MESSAGE_REJECTED', `${fault}; nothing was sent`);
}

async function contentFault(content: Uint8Array): Promise<string | null> {
  if (content.length === 0) return 'the message is empty';
  const bytes = asBuffer(content);
  /** Where the first line begins that has not been looked at. */
  let line = 0;
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    if (from > 0) await setImmediate();
    const piece = bytes.subarray(from, from + PIECE_BYTES);
    if (!isAscii(piece)) return 'the message has bytes beyond 7 bits';
    if (piece.includes(NUL)) return 'the message has a NUL';
    while (line < from + piece.length) {
      const end = findCrOrLf(bytes, line);
      if (end - line > MAX_LINE_OCTETS)
        return `the message has a line of more than ${MAX_LINE_OCTETS} octets`;
      const isLineEnd = bytes[end] === CR && bytes[end + 1] === LF;
      if (end < bytes.length && !isLineEnd) return 'the message has a bare CR or a bare LF';
      line = end + 2;
    }
  }
  return null;
}

/** The position of the first CR or LF from `from` on; the length if there is none. */
function findCrOrLf(bytes: Buffer, from: number): number {
  // A message may be megabytes of short lines. Two native searches for each would be slow, so it starts with a loop.
  const near = Math.min(from + SHORT_LINE, bytes.length);
  for (let at = from; at < near; at += 1) if (bytes[at] === CR || bytes[at] === LF) return at;
  const cr = bytes.indexOf(CR, near);
  const lf = bytes.indexOf(LF, near);
  return Math.min(cr < 0 ? bytes.length : cr, lf < 0 ? bytes.length : lf);
}
