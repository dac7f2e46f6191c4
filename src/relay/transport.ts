import type { Relay } from '../usecases/ports.js';

/** Carries mail to recipients who have no inbox here. */
export interface Transport extends Relay {
  /** Checks what it needs, and logs what is missing; until that is repaired, sends are rejected. Never rejects. */
  start(): Promise<void>;
  /**
   * Takes no more messages. Submissions in flight may finish within `graceMs`; those that are cut off end as
   * `rejected` or `unknown` by the usual rules. Resolves when no socket and no timer is left.
   */
  close(graceMs: number): Promise<void>;
}
