import type { ServerResponse } from 'node:http';

/**
 * Whole answers, until the event turn that made them ends: then all go to their sockets. A write wakes the
 * client that waits for it, which takes longer than making the answer of a list; one that is awake already
 * when the next comes need not be woken. A seventh more lists a second.
 */
export class Outbox {
  #due: { readonly response: ServerResponse; readonly body: Uint8Array | null }[] = [];

  /** Ends an answer whose head is written. */
  add(response: ServerResponse, body: Uint8Array | null): void {
    if (this.#due.push({ response, body }) === 1) setImmediate(() => this.#send());
  }

  #send(): void {
    const due = this.#due;
    this.#due = [];
    for (const { response, body } of due) response.end(body ?? undefined);
  }
}
