import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { startScript, stopChild } from '../child-process.js';
import type { Corpus } from './parse-corpus.js';

/**
 * `one worker`: through the pool and one of its threads, as the daemon parses. `parseMessage`: the parser alone,
 * on the main thread, as mailparser is measured.
 */
export type EngineName = 'one worker' | 'parseMessage' | 'mailparser';

export interface ParseOrder {
  readonly corpus: Corpus;
  readonly durationMs: number;
}

export interface ParseSpeed {
  readonly perSecond: number;
  readonly bytesPerSecond: number;
}

const ANSWER_MS = 60_000;

/** A parser in a process that stays, so that its code is compiled once and its garbage is its own. */
export class ParseEngine {
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;

  /** @param mailparser folder of that package, for the engine of that name */
  constructor(engine: EngineName, mailparser: string | null = null) {
    this.#child = startScript('load/parse-engine.js', { engine, mailparser });
    const { stdout } = this.#child;
    if (stdout === null) throw new Error('no output to listen to');
    this.#answers = createInterface({ input: stdout })[Symbol.asyncIterator]();
  }

  /** Parses a corpus over and over for a time. */
  async run(order: ParseOrder): Promise<ParseSpeed> {
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), order.durationMs + ANSWER_MS);
    const answer = await this.#answers.next();
    clearTimeout(timer);
    if (answer.done === true) {
      if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
      throw new Error(`the parser ended with ${this.#child.exitCode ?? this.#child.signalCode}`);
    }
    return JSON.parse(answer.value) as ParseSpeed;
  }

  stop(): Promise<void> {
    return stopChild(this.#child);
  }
}
