import type { DnsClient } from '../dns/dns-client.js';
import type { Authentication, Origin } from '../domain/authentication.js';
import { unknownAuthentication } from '../domain/verdict.js';
import { backOffMs } from '../lib/async.js';
import { LoopLoad } from '../lib/loop-load.js';
import { Turns } from '../lib/turns.js';
import type { Authenticator, Logger, MessageParser, ParseOutcome, ParseSource } from '../usecases/ports.js';
import { DnsAnswers } from './dns-answers.js';
import { ParseBatch, type Waiting } from './parse-batch.js';
import { PoolThread, type ThreadDeath } from './parse-pool-thread.js';
import {
  type Asked,
  BATCH_BYTES,
  BATCH_MESSAGES,
  type ChecksSetup,
  type FromThread,
  SMALL_MESSAGE,
} from './parse-protocol.js';
import { ParseRun } from './parse-run.js';
import { PendingChecks } from './pending-checks.js';

export interface ParsePoolOptions {
  /**
   * Maximum number of threads. One is started at once, the others when there is work for them. With one, a second is
   * started for small messages while a large one is parsed.
   */
  readonly workers: number;
  /** How long a thread may take for one message. */
  readonly timeoutMs: number;
  /** Heap that one message may use. The limits on its buffers and its text are derived from it. */
  readonly memoryMib: number;
  readonly log: Logger;
  /** Null or absent: who has written a message is never found out. */
  readonly checks?: (ChecksSetup & { readonly dns: DnsClient }) | null;
  /** For how long a thread more than `workers` is kept for the next time, in milliseconds. */
  readonly spareMs?: number;
  /** The script of a thread. */
  readonly script?: URL;
  /** Whether the main thread has more to do than it can. */
  readonly load?: { readonly isBusy: boolean };
}

/** A message of up to this many bytes is parsed in a fraction of a second. */
const MAX_SMALL_BYTES = 1024 * 1024;
/** What takes a thread for longer counts as large from then on, whatever its size. */
const MAX_SMALL_MS = 1_000;

/** Is a message of this many bytes large? Then it must not keep small ones waiting. */
export function isLarge(bytes: number): boolean {
  return bytes > MAX_SMALL_BYTES;
}

/**
 * While the main thread has more to do than it can, a thread rests after a batch for this many times as long as it took:
 * mail that comes in is accepted first, and a backlog is parsed afterwards, in the same time in all.
 */
const PAUSES = 3;
const LONGEST_PAUSE_MS = 100;

const RETRIES = { firstMs: 100, longestMs: 10_000 };

/**
 * Parses messages on worker threads. A message can harm only its own thread: one that takes too much time or memory is
 * ended and replaced, and the others go on. Threads have no access to the store; raw bytes are passed through here, with
 * limits on how much is in flight.
 *
 * Large messages never have all threads, and one of them goes on whatever waits: small and large ones do not hold each
 * other up. Among each, owners take turns. Small ones that wait are parsed in batches, divided among the threads.
 */
export class ParsePool implements MessageParser, Authenticator {
  readonly #options: Required<ParsePoolOptions>;
  readonly #small = new Turns<Waiting>();
  readonly #large = new Turns<Waiting>();
  /** Small messages that had their turn already, but whose thread ended or was held up by another message. */
  readonly #returned: Waiting[] = [];
  /** Every running thread with what it works on, or null. */
  readonly #threads = new Map<PoolThread, Work | null>();
  readonly #checks: PendingChecks<PoolThread>;
  readonly #answers: DnsAnswers | null;
  #lastJob = 0;
  #failedStarts = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #spareTimer: NodeJS.Timeout | undefined;
  #firstStart: { resolve: () => void; reject: (error: Error) => void } | undefined;
  #isStopped = false;

  constructor(options: ParsePoolOptions) {
    const script = new URL('./parse-thread.js', import.meta.url);
    this.#options = { script, spareMs: 30_000, load: new LoopLoad(), checks: null, ...options };
    const { checks } = this.#options;
    this.#checks = new PendingChecks(checks?.dnsMs ?? 0);
    this.#answers = checks === null ? null : new DnsAnswers(checks.dns, checks.dnsMs);
  }

  /** Starts the first thread. Rejects when threads cannot start at all. */
  async start(): Promise<void> {
    if (this.#isStopped || this.#threads.size > 0) return;
    await new Promise<void>((resolve, reject) => {
      this.#firstStart = { resolve, reject };
      this.#addThread();
    });
  }

  /** Parses a message when its turn has come and a thread is free. Rejects only when `source` fails. */
  parse(source: ParseSource): Promise<ParseOutcome> {
    return this.#take(source, this.#asked(source, source.origin ?? null, false));
  }

  /** Finds out who has written a message, and leaves it unparsed. It takes its turn as those that are parsed. */
  async check(source: ParseSource, origin: Origin): Promise<Authentication> {
    const asked = this.#asked(source, origin, true);
    const outcome = asked.origin === null ? null : await this.#take(source, asked).catch(() => null);
    const found = outcome?.status === 'parsed' ? outcome.prepared.authentication : null;
    return found ?? unknownAuthentication('the message could not be checked.');
  }

  #asked({ owner, size }: ParseSource, origin: Origin | null, isCheckOnly: boolean): Asked {
    const toCheck = this.#options.checks === null ? null : origin;
    return { origin: toCheck, isCheckOnly, owner, isHurried: !isCheckOnly && isLarge(size) };
  }

  #take(source: ParseSource, asked: Asked): Promise<ParseOutcome> {
    if (this.#isStopped) return Promise.resolve({ status: 'stopped' });
    return new Promise(resolve => {
      const waiting = isLarge(source.size) ? this.#large : this.#small;
      waiting.add(source.owner, { source, asked, resolve });
      this.#dispatch();
    });
  }

  /** How many large messages are parsed at once. */
  get largeAtOnce(): number {
    return Math.max(1, this.#options.workers - 1);
  }

  /** How many messages wait, how many are being parsed, and how many threads there are. */
  get load(): { readonly waiting: number; readonly active: number; readonly threads: number } {
    return {
      waiting: this.#smallWaiting + this.#large.size,
      active: this.#active.reduce((sum, { run }) => sum + run.size, 0),
      threads: this.#threads.size,
    };
  }

  /** Ends all threads. Every unfinished parse resolves with `stopped`. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#spareTimer);
    for (const waiting of [this.#returned.splice(0), this.#small.drain(), this.#large.drain()]) {
      for (const { resolve } of waiting) resolve({ status: 'stopped' });
    }
    this.#checks.stop();
    const threads = [...this.#threads];
    this.#threads.clear();
    this.#firstStart?.reject(new Error('the parse pool was stopped'));
    await Promise.all(threads.flatMap(([thread, work]) => [work?.run.stop(), thread.end()]));
  }

  #dispatch(): void {
    for (let size = this.#nextSize(); size !== null; size = this.#nextSize()) {
      const thread = this.#findIdle();
      if (thread === undefined) {
        const starting = [...this.#threads.keys()].filter(({ isReady }) => !isReady).length;
        const waiting = this.#smallWaiting + this.#large.size;
        if (waiting > starting && this.#threads.size < this.#maxThreads) this.#addThread();
        return;
      }
      if (size === 'large') this.#runLarge(thread);
      else this.#runSmall(thread);
    }
  }

  /** From which the next message comes that may be parsed now; null when none may. */
  #nextSize(): 'small' | 'large' | null {
    if (this.#isStopped || this.#active.length >= this.#maxThreads) return null;
    const mayBeLarge = this.#large.size > 0 && this.#largeActive < this.largeAtOnce;
    // One large message at least goes on, however many small ones there are.
    if (mayBeLarge && this.#largeActive === 0) return 'large';
    if (this.#smallWaiting > 0) return 'small';
    return mayBeLarge ? 'large' : null;
  }

  get #smallWaiting(): number {
    return this.#returned.length + this.#small.size;
  }

  get #active(): Work[] {
    return [...this.#threads.values()].filter(work => work !== null);
  }

  get #largeActive(): number {
    return this.#active.filter(work => work.isLarge).length;
  }

  /** With one worker, a large message leaves room for a thread that takes small ones. */
  get #maxThreads(): number {
    const { workers } = this.#options;
    return workers === 1 && this.#largeActive > 0 ? 2 : workers;
  }

  #findIdle(): PoolThread | undefined {
    for (const [thread, run] of this.#threads) if (run === null && thread.isReady) return thread;
    return undefined;
  }

  #runLarge(thread: PoolThread): void {
    const next = this.#large.next();
    if (next !== undefined) this.#runAlone(thread, next, true);
  }

  /** Gives a thread the small message whose turn it is, with those behind it that may share the thread. */
  #runSmall(thread: PoolThread): void {
    const first = this.#returned.shift() ?? this.#small.next();
    if (first === undefined) return;
    if (first.source.size > SMALL_MESSAGE) this.#runAlone(thread, first, false);
    else this.#runBatch(thread, first.wasReturned === true ? [first] : [first, ...this.#takeBehind(first)]);
  }

  /** A thread takes its share of what waits, within the limits of a batch. */
  #takeBehind(first: Waiting): Waiting[] {
    const share = Math.min(BATCH_MESSAGES, Math.ceil((this.#small.size + 1) / this.#options.workers));
    const behind: Waiting[] = [];
    let bytes = first.source.size;
    for (let next = this.#small.first; next !== undefined; next = this.#small.first) {
      const { size } = next.source;
      bytes += size;
      if (behind.length + 1 >= share || bytes > BATCH_BYTES || size > SMALL_MESSAGE) break;
      this.#small.next();
      behind.push(next);
    }
    return behind;
  }

  #runBatch(thread: PoolThread, messages: readonly Waiting[]): void {
    const startedAt = performance.now();
    const firstJob = this.#lastJob + 1;
    this.#lastJob += messages.length;
    const run: ParseBatch = new ParseBatch({
      messages,
      firstJob,
      timeoutMs: this.#options.timeoutMs,
      slowMs: MAX_SMALL_MS,
      post: (message, transfer) => thread.post(message, transfer),
      outcomeOf: result => this.#checks.outcomeOf(thread, result),
      onSpent: reason => this.#replace(thread, reason),
      onSlow: () => {
        work.isLarge = true;
        this.#dispatch();
      },
      onReturned: returned => {
        this.#returned.push(...returned);
        this.#dispatch();
      },
      onOver: () => {
        const pauseMs = this.#options.load.isBusy ? PAUSES * (performance.now() - startedAt) : 0;
        if (pauseMs === 0) this.#free(thread, work);
        else setTimeout(() => this.#free(thread, work), Math.min(pauseMs, LONGEST_PAUSE_MS));
      },
    });
    const work: Work = { run, isLarge: false };
    this.#threads.set(thread, work);
    run.start();
  }

  #runAlone(thread: PoolThread, { source, asked, resolve }: Waiting, isLarge: boolean): void {
    const { timeoutMs } = this.#options;
    const run = new ParseRun({
      job: ++this.#lastJob,
      source: source.bytes,
      asked,
      timeoutMs,
      post: (message, transfer) => thread.post(message, transfer),
      outcomeOf: result => this.#checks.outcomeOf(thread, result),
      onTimeUp: () => {
        this.#replace(thread, 'time is up');
        run.end({ status: 'gave_up', reason: 'timeout', detail: `not parsed in ${timeoutMs} ms` });
      },
    });
    const work: Work = { run, isLarge };
    this.#threads.set(thread, work);
    resolve(run.answer());
    const slow = setTimeout(() => {
      work.isLarge = true;
      this.#dispatch();
    }, MAX_SMALL_MS);
    const free = (): void => {
      clearTimeout(slow);
      this.#free(thread, work);
    };
    run.outcome.then(outcome => {
      if (outcome.status === 'gave_up' && outcome.reason === 'memory') this.#replace(thread, 'out of memory');
      free();
    }, free);
  }

  #free(thread: PoolThread, work: Work): void {
    if (this.#threads.get(thread) === work) this.#threads.set(thread, null);
    this.#dispatch();
    this.#endSpareLater();
  }

  #endSpareLater(): void {
    if (this.#threads.size <= this.#options.workers || this.#spareTimer !== undefined) return;
    this.#spareTimer = setTimeout(() => {
      this.#spareTimer = undefined;
      const idle = this.#findIdle();
      if (idle === undefined || this.#largeActive > 0 || this.#checks.waitFor(idle))
        return this.#endSpareLater();
      this.#threads.delete(idle);
      void idle.end();
    }, this.#options.spareMs);
    this.#spareTimer.unref();
  }

  #addThread(): void {
    if (this.#isStopped || this.#retryTimer !== undefined) return;
    const thread = new PoolThread({
      script: this.#options.script,
      memoryMib: this.#options.memoryMib,
      checks: setupOf(this.#options.checks),
      onReady: () => {
        this.#failedStarts = 0;
        this.#firstStart?.resolve();
        this.#firstStart = undefined;
        this.#dispatch();
      },
      onMessage: (from, message) => this.#hear(from, message),
      onDied: (dead, death) => this.#bury(dead, death),
    });
    this.#threads.set(thread, null);
  }

  #hear(thread: PoolThread, message: FromThread): void {
    if (message.kind === 'checked') this.#checks.hear(thread, message.checks);
    else if (message.kind === 'ask')
      this.#answers?.hear(message.questions, answers => thread.post({ kind: 'answers', answers }, []));
    else this.#threads.get(thread)?.run.hear(message);
  }

  /** Ends a running thread. A new one is started when a message needs it. */
  #replace(thread: PoolThread, reason: string): void {
    if (!this.#threads.delete(thread)) return;
    this.#checks.giveUp(thread);
    this.#options.log.warn({ reason }, 'ending a parser thread');
    void thread.end();
  }

  #bury(thread: PoolThread, death: ThreadDeath): void {
    const run = this.#threads.get(thread)?.run;
    this.#threads.delete(thread);
    this.#checks.giveUp(thread);
    if (!thread.isReady) {
      this.#failStart(death);
      return;
    }
    this.#options.log.warn({ ...death }, 'a parser thread died');
    run?.end({ status: 'gave_up', reason: death.reason, detail: death.detail });
    this.#dispatch();
  }

  /** A thread that dies before it is ready has not touched a message: messages wait for the next try, with back-off. */
  #failStart(death: ThreadDeath): void {
    const first = this.#firstStart;
    this.#firstStart = undefined;
    if (first !== undefined) {
      first.reject(new Error(`parser threads cannot start: ${death.detail}`));
      return;
    }
    const delayMs = backOffMs(this.#failedStarts, RETRIES);
    this.#failedStarts++;
    this.#options.log.error({ ...death, delayMs }, 'a parser thread cannot start; trying again');
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = undefined;
      this.#dispatch();
    }, delayMs);
  }
}

/** The client stays here: threads have no sockets. */
function setupOf(checks: ChecksSetup | null): ChecksSetup | null {
  return checks && { trustedSealers: checks.trustedSealers, dnsMs: checks.dnsMs };
}

/** What a thread works on. */
interface Work {
  readonly run: ParseBatch | ParseRun;
  isLarge: boolean;
}
