import type { MessageId } from '../../../src/domain/ids.js';
import type { Store } from '../../../src/store/engine/store.js';
import { BlobUploads } from '../../../src/store/records/blob-upload.js';
import { type Clock, type Relay, SILENT } from '../../../src/usecases/ports.js';
import { SendsInFlight } from '../../../src/usecases/sending/in-flight.js';
import { relayMessage } from '../../../src/usecases/sending/relay-message.js';
import type { SendDeps } from '../../../src/usecases/sending/submit-send.js';

export interface SendingSideOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly relay: Relay;
  readonly responseTimeoutMs?: number;
  /** Allowance of an account. */
  readonly sends?: number;
}

/**
 * The sending side of a process, from the request to the outcome, without a queue in between: what the daemon wires
 * together, with a relay of the test's own.
 */
export class SendingSide {
  readonly send: SendDeps;
  /** `work`: what is offered is relayed at once. `keep`: it waits for `workAll`. `drop`: it is forgotten. */
  mode: 'work' | 'keep' | 'drop' = 'work';
  readonly kept: MessageId[] = [];
  /** What failed while it was relayed. */
  readonly failures: unknown[] = [];
  readonly #options: SendingSideOptions;
  readonly #inFlight = new SendsInFlight();
  readonly #working = new Set<Promise<void>>();

  constructor(options: SendingSideOptions) {
    const { store, clock, responseTimeoutMs = 60_000, sends = 100_000 } = options;
    this.#options = options;
    this.send = {
      store,
      clock,
      inFlight: this.#inFlight,
      uploads: new BlobUploads(store),
      queue: { isReady: true, offer: work => this.#offer(work.map(({ id }) => id)) },
      quota: {
        limits: { inboxes: 5, sends, storageMib: 2048 },
        texts: { increaseRequest: 'Ask.', policyUrl: 'https://example.org/policy' },
      },
      attribution: 'Sent via Postern',
      keepsMessageIds: true,
      deliveries: null,
      responseTimeoutMs,
    };
  }

  /** Relays what was kept, and waits for all that is being relayed. */
  async workAll(): Promise<void> {
    for (const id of this.kept.splice(0)) this.#work(id);
    await Promise.all(this.#working);
  }

  #offer(ids: readonly MessageId[]): void {
    if (this.mode === 'keep') this.kept.push(...ids);
    if (this.mode === 'work') for (const id of ids) this.#work(id);
  }

  #work(id: MessageId): void {
    const { store, clock, relay } = this.#options;
    const done: Promise<void> = relayMessage(
      { store, clock, relay, inFlight: this.#inFlight, log: SILENT },
      id,
    )
      .catch(error => void this.failures.push(error))
      .finally(() => this.#working.delete(done));
    this.#working.add(done);
  }
}
