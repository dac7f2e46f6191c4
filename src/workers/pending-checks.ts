import type { Authentication } from '../domain/authentication.js';
import { unknownAuthentication } from '../domain/verdict.js';
import type { ParseOutcome, PreparedContent } from '../usecases/ports.js';
import type { CheckResult, ParsedResult } from './parse-protocol.js';

/** A thread that says nothing for so long after the DNS had its time will say nothing more. */
const PATIENCE_MS = 3_000;

const NO_CONTENT: PreparedContent = {
  json: new Uint8Array(0),
  subject: null,
  messageId: null,
  from: null,
  senders: [],
  recipients: [],
  attachments: [],
  ids: { messageId: null, references: [], inReplyTo: [] },
  report: null,
  words: '\n',
};

interface Pending {
  readonly prepared: PreparedContent;
  readonly resolve: (outcome: ParseOutcome) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * Parsed messages whose check is still under way on their thread. However it ends, what was parsed is kept: without a word
 * from the thread it is `unknown` who has written the message.
 */
export class PendingChecks<Thread> {
  readonly #pending = new Map<Thread, Map<number, Pending>>();
  readonly #patienceMs: number;

  /** @param dnsMs how long the DNS may take for one message */
  constructor(dnsMs: number) {
    this.#patienceMs = dnsMs + PATIENCE_MS;
  }

  /** The outcome of a message that its thread is done with. */
  outcomeOf(thread: Thread, { job, prepared, check }: ParsedResult): ParseOutcome | Promise<ParseOutcome> {
    const content = prepared ?? NO_CONTENT;
    if (check !== 'later') return parsed(content, check);
    return new Promise(resolve => {
      const timer = setTimeout(() => this.#settle(thread, job, unheard()), this.#patienceMs);
      let ofThread = this.#pending.get(thread);
      if (ofThread === undefined) {
        ofThread = new Map();
        this.#pending.set(thread, ofThread);
      }
      ofThread.set(job, { prepared: content, resolve, timer });
    });
  }

  /** Takes what a thread has found out later. */
  hear(thread: Thread, checks: readonly CheckResult[]): void {
    for (const { job, authentication } of checks) this.#settle(thread, job, authentication);
  }

  /** Is the thread still finding something out? */
  waitFor(thread: Thread): boolean {
    return this.#pending.has(thread);
  }

  /** The thread has ended. */
  giveUp(thread: Thread): void {
    for (const job of this.#pending.get(thread)?.keys() ?? []) this.#settle(thread, job, unheard());
  }

  /** Every message that waits is `stopped`, to be parsed again. */
  stop(): void {
    for (const ofThread of this.#pending.values()) {
      for (const { resolve, timer } of ofThread.values()) {
        clearTimeout(timer);
        resolve({ status: 'stopped' });
      }
    }
    this.#pending.clear();
  }

  #settle(thread: Thread, job: number, authentication: Authentication): void {
    const ofThread = this.#pending.get(thread);
    const pending = ofThread?.get(job);
    if (ofThread === undefined || pending === undefined) return;
    ofThread.delete(job);
    if (ofThread.size === 0) this.#pending.delete(thread);
    clearTimeout(pending.timer);
    pending.resolve(parsed(pending.prepared, authentication));
  }
}

function parsed(prepared: PreparedContent, authentication: Authentication | null): ParseOutcome {
  return { status: 'parsed', prepared: { ...prepared, authentication } };
}

function unheard(): Authentication {
  return unknownAuthentication('the check did not come to its end.');
}
