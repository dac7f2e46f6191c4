import { Turns } from '../lib/turns.js';

/** Questions that one account may have open, and all accounts together; further ones are refused. */
const PER_ACCOUNT = 16;
const ALTOGETHER = 512;
/** Questions that the thread has at once: one in work, and one that it goes on with. */
const AT_ONCE = 2;

/** Lets accounts take turns, so that nobody who asks much holds up the others. */
export class QuestionQueue {
  readonly #waiting = new Turns<() => void>();
  readonly #open = new Map<string, number>();
  #openInAll = 0;
  #running = 0;

  /** Asks as soon as it is the account's turn; null when too much waits already. Rejects when `ask` does. */
  async ask<Answer>(accountId: string, ask: () => Promise<Answer>): Promise<Answer | null> {
    const open = this.#open.get(accountId) ?? 0;
    if (open >= PER_ACCOUNT || this.#openInAll >= ALTOGETHER) return null;
    this.#open.set(accountId, open + 1);
    this.#openInAll += 1;
    try {
      if (this.#running < AT_ONCE) this.#running += 1;
      else await new Promise<void>(begin => this.#waiting.add(accountId, begin));
      try {
        return await ask();
      } finally {
        this.#next();
      }
    } finally {
      const left = (this.#open.get(accountId) ?? 1) - 1;
      if (left === 0) this.#open.delete(accountId);
      else this.#open.set(accountId, left);
      this.#openInAll -= 1;
    }
  }

  /** The place goes to the account whose turn it is, or is free. */
  #next(): void {
    const begin = this.#waiting.next();
    if (begin === undefined) this.#running -= 1;
    else begin();
  }
}
