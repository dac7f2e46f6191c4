import { domainOf } from '../../domain/addresses.js';
import type { Deliverer, DeliveryOutcome, RelayAttempt, RelayOutcome } from '../../usecases/ports.js';
import { rejected, unknown } from '../smarthost/outcome.js';
import type { Transport } from '../transport.js';

/**
 * Mail of the service itself, such as links for humans: it is not kept, so it is delivered while its sender waits, to
 * one recipient, or not at all. Mail of agents has deliveries (`usecases/sending/deliver.ts`) and does not come here.
 */
export class DirectTransport implements Transport {
  readonly #deliverer: Deliverer;

  /** @param deliverer is closed by its owner */
  constructor(deliverer: Deliverer) {
    this.#deliverer = deliverer;
  }

  async start(): Promise<void> {}

  async close(): Promise<void> {}

  async submit({ id, envelope, content }: RelayAttempt): Promise<RelayOutcome> {
    const { from, recipients } = envelope;
    const [recipient] = recipients;
    if (recipient === undefined || recipients.length > 1) {
      return rejected('E_MESSAGE_REJECTED', 'mail of the service itself has one recipient; nothing was sent');
    }
    const domain = domainOf(recipient);
    const beforeDot = async (): Promise<boolean> => true;
    const [outcome] = await this.#deliverer.deliver({ id, domain, from, recipients, content, beforeDot });
    return outcome === undefined ? unknown('the delivery told nothing') : relayOutcomeOf(outcome);
  }
}

function relayOutcomeOf({ state, code, reply, host }: DeliveryOutcome): RelayOutcome {
  const detail = host === null ? `${code} ${reply}` : `${host}: ${reply}`;
  switch (state) {
    case 'delivered':
      return { status: 'accepted', detail };
    case 'failed':
      return rejected('E_RECIPIENT_REJECTED', detail);
    case 'later':
      return rejected('E_TEMPORARY_FAILURE', detail);
    case 'unknown':
      return unknown(detail);
  }
}
