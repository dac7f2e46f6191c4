import type { MessageId } from '../../../src/domain/ids.js';
import type { RelayAttempt, RelayOutcome } from '../../../src/usecases/ports.js';
import { SendsInFlight } from '../../../src/usecases/sending/in-flight.js';
import { relayMessage } from '../../../src/usecases/sending/relay-message.js';
import type { SendDeps } from '../../../src/usecases/sending/submit-send.js';
import type { ByteStream } from '../../../src/usecases/shared/contents.js';
import { type House, silent } from './with-house.js';

export const ATTRIBUTION = 'Sent via Postern';

export const ACCEPTED: RelayOutcome = { status: 'accepted', detail: '250 2.0.0 OK' };
export const REJECTED: RelayOutcome = {
  status: 'rejected',
  errorCode: 'E_RECIPIENT_REJECTED',
  detail: '550 5.1.1 Nobody',
};
export const UNKNOWN: RelayOutcome = {
  status: 'unknown',
  errorCode: 'acceptance_unknown',
  detail: 'cut off behind the final dot',
};

/** Sending over a house, with a relay that answers what it is told to and a queue without Redis. */
export class Desk {
  readonly deps: SendDeps;
  /** Every message that the relay got. */
  readonly relayed: RelayAttempt[] = [];
  outcome: RelayOutcome = ACCEPTED;
  /** May the queue take messages? */
  isReady = true;
  /** Offers are kept here instead of being worked on. */
  held: MessageId[] | null = null;
  readonly #running = new Set<Promise<void>>();

  constructor(house: Omit<House, 'account'>, { sends = 1_000, responseTimeoutMs = 20_000 } = {}) {
    const { store, uploads, clock } = house;
    const isReady = () => this.isReady;
    this.deps = {
      store,
      uploads,
      clock,
      inFlight: new SendsInFlight(),
      queue: {
        offer: work => this.offer(work.map(({ id }) => id)),
        get isReady() {
          return isReady();
        },
      },
      quota: {
        limits: { inboxes: 5, sends, storageMib: 2048 },
        texts: { increaseRequest: 'Ask for more.', policyUrl: 'https://example.org/policy' },
      },
      attribution: ATTRIBUTION,
      keepsMessageIds: true,
      deliveries: null,
      responseTimeoutMs,
    };
  }

  /** Resolves when everything that was offered has come to its end. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** What the queue does with ids that it is offered. */
  offer(ids: readonly MessageId[]): void {
    if (this.held !== null) {
      this.held.push(...ids);
      return;
    }
    for (const id of ids) {
      const relay = {
        submit: async (attempt: RelayAttempt) => {
          this.relayed.push(attempt);
          return this.outcome;
        },
      };
      const run = relayMessage({ ...this.deps, relay, log: silent }, id);
      this.#running.add(run);
      void run.finally(() => this.#running.delete(run));
    }
  }
}

/** A detail that is given as bytes, read. */
export async function readStream<Body>({ size, bytes }: ByteStream): Promise<Body> {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  const whole = Buffer.concat(parts);
  if (whole.length !== size) throw new Error(`a stream of ${size} bytes gave ${whole.length}`);
  return JSON.parse(whole.toString('utf8')) as Body;
}
