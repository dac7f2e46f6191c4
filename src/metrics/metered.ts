import type { Writer } from '../store/engine/tables.js';
import {
  type AcceptOutcome,
  type Deliverer,
  type DeliveryJob,
  type DeliveryOutcome,
  type Envelope,
  IN_PROCESS,
  type InboundMail,
  type IncomingBody,
  type MessageParser,
  type ParseOutcome,
  type ParseSource,
  type Relay,
  type WorkQueue,
} from '../usecases/ports.js';
import type { HookCaller } from '../usecases/webhooks/hook-call.js';
import type { Figures } from './figures.js';

/*
 * Ports that count what goes through them. Use cases and adaptors do not know: the composition root puts one in the place
 * of the other, and none where nobody asks for figures.
 */

export function meteredInbound(inbound: InboundMail, figures: Figures): InboundMail {
  return {
    hasRoom: () => inbound.hasRoom(),
    hasRoomFor: recipient => inbound.hasRoomFor(recipient),
    resolveRecipient: address => inbound.resolveRecipient(address),
    refusing: (recipients, fromAddresses) => inbound.refusing(recipients, fromAddresses),
    holdStorage: (recipient, declaredBytes, isNotice) =>
      inbound.holdStorage(recipient, declaredBytes, isNotice),
    begin: () => new MeteredBody(inbound.begin(), figures),
  };
}

class MeteredBody implements IncomingBody {
  readonly #body: IncomingBody;
  readonly #figures: Figures;
  #bytes = 0;

  constructor(body: IncomingBody, figures: Figures) {
    this.#body = body;
    this.#figures = figures;
  }

  write(chunk: Uint8Array): boolean {
    this.#bytes += chunk.length;
    return this.#body.write(chunk);
  }

  drained(): Promise<void> {
    return this.#body.drained();
  }

  commit(envelope: Envelope, alongside?: (writer: Writer) => void): Promise<AcceptOutcome> {
    const way = envelope.clientAddress === IN_PROCESS ? 'local' : 'smtp';
    const committed =
      alongside === undefined ? this.#body.commit(envelope) : this.#body.commit(envelope, alongside);
    return committed.then(
      outcome => {
        const isKept = outcome.status === 'accepted';
        this.#figures.mail(way, outcome.status, isKept ? this.#bytes : null);
        return outcome;
      },
      (error: unknown) => {
        this.#figures.mail(way, 'store_error', null);
        throw error;
      },
    );
  }

  abort(): void {
    this.#body.abort();
  }
}

export function meteredParser(parser: MessageParser, figures: Figures): MessageParser {
  return {
    async parse(source: ParseSource): Promise<ParseOutcome> {
      const beganAt = performance.now();
      const outcome = await parser.parse(source);
      figures.parse(outcome, (performance.now() - beganAt) / 1000);
      return outcome;
    },
  };
}

export function meteredRelay<One extends Relay>(relay: One, figures: Figures): Relay {
  return {
    async submit(attempt) {
      const outcome = await relay.submit(attempt);
      figures.send(outcome.status);
      return outcome;
    },
  };
}

export function meteredDeliverer(deliverer: Deliverer, figures: Figures): Deliverer {
  return {
    async deliver(job: DeliveryJob): Promise<readonly DeliveryOutcome[]> {
      const outcomes = await deliverer.deliver(job);
      for (const outcome of outcomes) figures.delivery(outcome);
      return outcomes;
    },
  };
}

/** Where messages are delivered from here, each is taken as soon as its deliveries are on disk. */
export function meteredDeliveries<Work extends { readonly sentId: string }>(
  queue: WorkQueue<Work>,
  figures: Figures,
): WorkQueue<Work> {
  return {
    offer(work) {
      if (work.length > 0) figures.send('accepted');
      queue.offer(work);
    },
  };
}

export function meteredCaller(caller: HookCaller, figures: Figures): HookCaller {
  return {
    async call(call) {
      const beganAt = performance.now();
      const outcome = await caller.call(call);
      figures.webhookCall(outcome.kind, (performance.now() - beganAt) / 1000);
      return outcome;
    },
  };
}
