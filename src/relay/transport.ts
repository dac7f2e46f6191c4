import type { Relay } from '../usecases/ports.js';

/** A way out of the house: whoever is not an inbox here is reached through one. */
export interface Transport extends Relay {
  /** Looks at what it needs and says in the log what is missing; that comes right by itself or fails sends. */
  start(): Promise<void>;
  /**
   * Takes nothing more. Submissions in hand may finish within `graceMs`; what then becomes of the rest follows
   * the same rule as ever. Resolves when no socket and no timer is left.
   */
  close(graceMs: number): Promise<void>;
}
