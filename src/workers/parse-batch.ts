import type { ParseOutcome, ParseSource } from '../usecases/ports.js';
import {
  type Asked,
  type BatchedMessage,
  type FromThread,
  Mark,
  type ParsedResult,
  type ParseResult,
  type ToThread,
} from './parse-protocol.js';

/** A message that waits for a thread. */
export interface Waiting {
  readonly source: ParseSource;
  readonly asked: Asked;
  readonly resolve: (outcome: Promise<ParseOutcome> | ParseOutcome) => void;
  /**
   * It was in a batch whose thread ended or was held up by another. From then on it has a thread for itself, so that it
   * is clear whom to blame.
   */
  wasReturned?: boolean;
}

export interface ParseBatchOptions {
  readonly messages: readonly Waiting[];
  /** The number of the first message; the others follow it. */
  readonly firstJob: number;
  /** How long the thread may take for one of them. */
  readonly timeoutMs: number;
  /** After this time the batch is slow. */
  readonly slowMs: number;
  readonly post: (message: ToThread, transfer: ArrayBuffer[]) => void;
  /** The outcome of a message that the thread is done with, which may have to wait for its check. */
  readonly outcomeOf: (result: ParsedResult) => ParseOutcome | Promise<ParseOutcome>;
  /** The thread must be ended: a message has taken too much time or memory. */
  readonly onSpent: (reason: string) => void;
  /** Something in it takes long: those that were not begun are returned. */
  readonly onSlow: () => void;
  /** These have not been begun or came to no result, and none of them is to blame: another thread has to parse them. */
  readonly onReturned: (messages: readonly Waiting[]) => void;
  /** No message is left: the thread is free. */
  readonly onOver: () => void;
}

/** A message in the batch, until it has its outcome or is returned. */
interface Member {
  readonly job: number;
  readonly waiting: Waiting;
  isOver: boolean;
}

/** How often the message in work is looked at. Its time limit is kept to this precision. */
const LOOK_MS = 100;

/**
 * Parses several small messages on one thread: reads them and posts them together, and gives each its outcome. The
 * thread marks which one it works on, and only that one is to blame for what happens to the thread.
 */
export class ParseBatch {
  readonly #options: ParseBatchOptions;
  readonly #members = new Map<number, Member>();
  /** Those that were posted, in the order in which they are worked on, which is that of their marks. */
  readonly #posted: Member[] = [];
  readonly #marks: Int32Array;
  readonly #watch: NodeJS.Timeout;
  readonly #startedAt = performance.now();
  #isSlow = false;
  #watched: Member | undefined;
  #workedMs = 0;
  #lastLook = performance.now();

  constructor(options: ParseBatchOptions) {
    this.#options = options;
    const { messages, firstJob } = options;
    this.#marks = new Int32Array(new SharedArrayBuffer(messages.length * Int32Array.BYTES_PER_ELEMENT));
    this.#watch = setInterval(() => this.#look(), LOOK_MS);
    for (const [index, waiting] of messages.entries()) {
      this.#members.set(firstJob + index, { job: firstJob + index, waiting, isOver: false });
    }
  }

  /** Reads the messages and posts them. Those that cannot be read reject. */
  start(): void {
    const members = [...this.#members.values()];
    const bytes = new Uint8Array(members.reduce((sum, { waiting }) => sum + waiting.source.size, 0));
    const messages: BatchedMessage[] = [];
    let at = 0;
    for (const member of members) {
      const { source } = member.waiting;
      try {
        source.readInto(bytes.subarray(at, at + source.size));
      } catch (error) {
        this.#settle(member, Promise.reject(error));
        continue;
      }
      at += source.size;
      const { asked } = member.waiting;
      const place = this.#posted.push(member) - 1;
      messages.push({ job: member.job, size: source.size, asked, place });
    }
    if (messages.length === 0) return;
    this.#options.post({ kind: 'batch', messages, bytes, marks: this.#marks }, [bytes.buffer]);
  }

  /** How many messages are without an outcome. */
  get size(): number {
    return this.#members.size;
  }

  /** Takes a message of the thread; late ones about other jobs are ignored. */
  hear(message: FromThread): void {
    if (message.kind !== 'results') return;
    for (const result of message.results) this.#conclude(result);
  }

  /** The thread has ended: the message in work gets `outcome`, and those without a result are returned. */
  end(outcome: ParseOutcome): void {
    // In a batch of one there is nobody else: so no thread ends time and again without anyone to blame.
    this.#end(this.#inWork ?? (this.#isOfOne ? this.#posted[0] : undefined), outcome);
  }

  /** Every message without an outcome is `stopped`. */
  async stop(): Promise<void> {
    for (const member of [...this.#members.values()]) this.#settle(member, { status: 'stopped' });
  }

  #conclude(result: ParseResult): void {
    const member = this.#members.get(result.job);
    if (member === undefined) return;
    if (result.status === 'parsed') {
      this.#settle(member, this.#options.outcomeOf(result));
      return;
    }
    const { reason, detail } = result;
    this.#settle(member, { status: 'gave_up', reason, detail });
    if (reason !== 'memory') return;
    this.#options.onSpent('out of memory');
    this.#end(member, { status: 'gave_up', reason, detail });
  }

  #end(culprit: Member | undefined, outcome: ParseOutcome): void {
    if (culprit !== undefined) this.#settle(culprit, outcome);
    this.#giveBack(this.#posted);
  }

  #returnUnbegun(): void {
    this.#isSlow = true;
    for (const place of this.#posted.keys()) {
      Atomics.compareExchange(this.#marks, place, Mark.waiting, Mark.withdrawn);
    }
    const inWork = this.#inWork;
    // Also those that are finished, but whose results the thread, which works on the next, has not posted.
    this.#giveBack(this.#posted.filter(member => member !== inWork));
  }

  #settle(member: Member, outcome: ParseOutcome | Promise<ParseOutcome>): void {
    if (member.isOver) return;
    this.#remove(member);
    member.waiting.resolve(outcome);
  }

  #giveBack(members: readonly Member[]): void {
    const returned = members.filter(member => !member.isOver);
    for (const member of returned) {
      this.#remove(member);
      member.waiting.wasReturned = true;
    }
    if (returned.length > 0) this.#options.onReturned(returned.map(({ waiting }) => waiting));
  }

  #remove(member: Member): void {
    member.isOver = true;
    this.#members.delete(member.job);
    if (this.#members.size > 0) return;
    clearInterval(this.#watch);
    this.#options.onOver();
  }

  /** The last message that the thread has begun. */
  get #inWork(): Member | undefined {
    return this.#posted.findLast((_, place) => Atomics.load(this.#marks, place) === Mark.begun);
  }

  get #isOfOne(): boolean {
    return this.#options.messages.length === 1;
  }

  /** Counts the time that the thread has spent on its message. */
  #look(): void {
    const now = performance.now();
    const passedMs = now - this.#lastLook;
    this.#lastLook = now;
    const inWork = this.#inWork;
    if (inWork !== this.#watched) this.#workedMs = 0;
    else this.#workedMs += passedMs;
    this.#watched = inWork;
    const { timeoutMs, slowMs, onSlow, onSpent } = this.#options;
    if (inWork?.isOver === false && this.#workedMs >= timeoutMs) {
      onSpent('time is up');
      const detail = `not parsed in ${timeoutMs} ms`;
      this.#end(inWork, { status: 'gave_up', reason: 'timeout', detail });
    } else if (!this.#isSlow && now - this.#startedAt >= slowMs) {
      this.#returnUnbegun();
      onSlow();
    }
  }
}
