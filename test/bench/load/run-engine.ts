import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { startScript, stopChild } from '../child-process.js';
import { median } from '../measure/statistics.js';

/** What an engine is to do, and for how long. */
export interface Order {
  readonly durationMs: number;
}

export interface Speed {
  readonly perSecond: number;
  readonly bytesPerSecond: number;
}

const ANSWER_MS = 60_000;

/**
 * Code that is measured in a process that keeps running, so that it is compiled once and has a heap of its own. The
 * script reads one order a line and writes the measured speed.
 */
export class Engine<Asked extends Order> {
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;

  constructor(script: string, parameters: object) {
    this.#child = startScript(script, parameters);
    const { stdout } = this.#child;
    if (stdout === null) throw new Error('no output to listen to');
    this.#answers = createInterface({ input: stdout })[Symbol.asyncIterator]();
  }

  /** Repeats the order for the given time. */
  async run(order: Asked): Promise<Speed> {
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), order.durationMs + ANSWER_MS);
    const answer = await this.#answers.next();
    clearTimeout(timer);
    if (answer.done === true) {
      if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
      throw new Error(`the engine ended with ${this.#child.exitCode ?? this.#child.signalCode}`);
    }
    return JSON.parse(answer.value) as Speed;
  }

  stop(): Promise<void> {
    return stopChild(this.#child);
  }
}

/** Runs an order on every engine in turn, after a warm-up run. Returns medians; null where there is no engine. */
export async function medianSpeeds<Name extends string, Asked extends Order>(
  engines: ReadonlyMap<Name, Engine<Asked>>,
  order: Asked,
  runs: number,
): Promise<(name: Name) => Speed | null> {
  const seen = new Map<Name, Speed[]>();
  for (const engine of engines.values()) await engine.run(order);
  for (let run = 0; run < runs; run++) {
    for (const [name, engine] of engines) {
      const speeds = seen.get(name) ?? [];
      speeds.push(await engine.run(order));
      seen.set(name, speeds);
    }
  }
  return name => {
    const speeds = seen.get(name) ?? [];
    if (speeds.length === 0) return null;
    return {
      perSecond: median(speeds.map(speed => speed.perSecond)),
      bytesPerSecond: median(speeds.map(speed => speed.bytesPerSecond)),
    };
  };
}
