import type { Deliverer, DeliveryJob, DeliveryOutcome, RelayOutcome } from '../../usecases/ports.js';
import type { LocalDelivery, Staged } from '../local-delivery.js';

export interface DeliverHereOptions {
  /** Our mail domains, in lower case and as A-labels (RFC 5890). */
  readonly domains: readonly string[];
  readonly local: LocalDelivery;
  /** Delivers to all other domains. */
  readonly outside: Deliverer;
}

/** Delivers mail for our own domains within this process, and leaves all other to the deliverer to other domains. */
export class DeliverHere implements Deliverer {
  readonly #options: DeliverHereOptions;

  constructor(options: DeliverHereOptions) {
    this.#options = options;
  }

  deliver(job: DeliveryJob): Promise<readonly DeliveryOutcome[]> {
    const { domains, outside } = this.#options;
    return domains.includes(job.domain) ? this.#deliverHere(job) : outside.deliver(job);
  }

  /** Every recipient has a transaction of its own, so that one that is refused keeps nothing from the others. */
  async #deliverHere({ from, recipients, content, beforeDot }: DeliveryJob): Promise<DeliveryOutcome[]> {
    const { local } = this.#options;
    const staged = new Map<string, Staged>();
    for (const recipient of recipients) {
      staged.set(recipient, await local.stage(from, [recipient], content, from === ''));
    }
    const taken = recipients.filter(recipient => staged.get(recipient)?.ok === true);
    const mayGo = taken.length > 0 && (await this.#mayGo(() => beforeDot(taken), staged));
    const outcomes: DeliveryOutcome[] = [];
    for (const [recipient, one] of staged) {
      if (!one.ok) outcomes.push(outcomeOf(recipient, one.outcome));
      else if (mayGo) outcomes.push(outcomeOf(recipient, await one.mail.commit()));
      else {
        one.mail.abort();
        outcomes.push({ ...HERE, recipient, state: 'later', code: '4.3.2', reply: 'put off' });
      }
    }
    return outcomes;
  }

  /** When the store fails to mark them, what was staged is not left in it. */
  async #mayGo(ask: () => Promise<boolean>, staged: ReadonlyMap<string, Staged>): Promise<boolean> {
    try {
      return await ask();
    } catch (error) {
      for (const one of staged.values()) if (one.ok) one.mail.abort();
      throw error;
    }
  }
}

const HERE = { host: null, tls: null } as const;

function outcomeOf(recipient: string, outcome: RelayOutcome): DeliveryOutcome {
  const reply = outcome.detail.slice(0, 500);
  switch (outcome.status) {
    case 'accepted':
      return { ...HERE, recipient, state: 'delivered', code: '2.0.0', reply };
    case 'unknown':
      return { ...HERE, recipient, state: 'unknown', code: '4.3.0', reply };
    case 'rejected':
      return outcome.errorCode === 'E_TEMPORARY_FAILURE'
        ? { ...HERE, recipient, state: 'later', code: '4.3.1', reply }
        : { ...HERE, recipient, state: 'failed', code: CODES[outcome.errorCode] ?? '5.0.0', reply };
  }
}

const CODES: Readonly<Record<string, string>> = {
  E_RECIPIENT_REJECTED: '5.1.1',
  E_MESSAGE_TOO_LARGE: '5.3.4',
};
