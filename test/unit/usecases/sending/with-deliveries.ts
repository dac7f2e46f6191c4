import type { Test } from 'tap';
import type { DeliveryId, MessageId } from '../../../../src/domain/ids.js';
import { type DeliveryRecord, deliveriesOf } from '../../../../src/store/records/deliveries.js';
import type { DeliveryJob, DeliveryOutcome } from '../../../../src/usecases/ports.js';
import { deliver } from '../../../../src/usecases/sending/deliver.js';
import type { Notice } from '../../../../src/usecases/sending/delivery-states.js';
import { sendMessage } from '../../../../src/usecases/sending/recipes.js';
import { Desk } from '../with-desk.js';
import { type House, silent, withHouse } from '../with-house.js';

export const HOUR_MS = 3_600_000;

/** What a server makes of a recipient: an outcome, or one that depends on the job. */
export type Answer = Partial<DeliveryOutcome> | ((job: DeliveryJob) => Promise<Partial<DeliveryOutcome>>);

export const DELIVERED: Answer = { state: 'delivered', code: '2.0.0', reply: '250 ok' };
export const LATER: Answer = { state: 'later', code: '4.7.1', reply: '451 4.7.1 greylisted' };
export const FAILED: Answer = { state: 'failed', code: '5.1.1', reply: '550 5.1.1 nobody' };

/** Sending over a house that delivers itself; `answers` says what becomes of each recipient. */
export class DeliveringDesk {
  readonly desk: Desk;
  readonly house: House;
  readonly offered: DeliveryRecord[] = [];
  readonly jobs: DeliveryJob[] = [];
  readonly notices: { readonly notice: Notice; readonly deliveries: readonly DeliveryRecord[] }[] = [];
  readonly answers = new Map<string, Answer>();
  readonly #telling = new Set<MessageId>();
  /** Has the sending inbox room for notices? */
  hasRoom = true;
  /** What happens while a notice is on its way. */
  beforeTelling: () => Promise<void> = async () => {};

  constructor(house: House) {
    this.house = house;
    this.desk = new Desk(house);
    Object.assign(this.desk.deps, {
      deliveries: {
        queue: { offer: (work: readonly DeliveryRecord[]) => this.offered.push(...work) },
        signer: null,
      },
    });
  }

  /** Sends to these addresses; gives the id of the sent message. */
  async send(inboxId: string, ...to: readonly string[]): Promise<MessageId> {
    const receipt = await sendMessage(this.desk.deps, {
      accountId: this.house.account,
      inboxId,
      hand: null,
      to: to.map(address => ({ address })),
      subject: 'Hello',
      text: 'Hi',
    });
    return receipt.message.id as MessageId;
  }

  of(sentId: MessageId): DeliveryRecord[] {
    return this.house.store.read(reader => deliveriesOf(reader, sentId));
  }

  /** State of every recipient, by address. */
  states(sentId: MessageId): Record<string, string> {
    return Object.fromEntries(
      this.of(sentId).flatMap(({ recipients }) => recipients.map(({ address, state }) => [address, state])),
    );
  }

  deliver(id: DeliveryId): Promise<number | undefined> {
    const { store, clock } = this.house;
    return deliver(
      {
        store,
        clock,
        log: silent,
        maxAgeMs: 48 * HOUR_MS,
        deliverer: { deliver: job => this.#answer(job) },
        notify: async (deliveries, notice, alongside) => {
          if (!this.hasRoom) return false;
          await this.beforeTelling();
          await store.write(alongside, 'settle');
          this.notices.push({ notice, deliveries });
          return true;
        },
        telling: this.#telling,
      },
      id,
    );
  }

  async #answer(job: DeliveryJob): Promise<DeliveryOutcome[]> {
    this.jobs.push(job);
    const outcomes: DeliveryOutcome[] = [];
    for (const recipient of job.recipients) {
      const answer = this.answers.get(recipient) ?? DELIVERED;
      const said = typeof answer === 'function' ? await answer(job) : answer;
      outcomes.push({
        recipient,
        state: 'delivered',
        host: 'mx.far.example',
        tls: null,
        code: '2.0.0',
        reply: '',
        ...said,
      });
    }
    return outcomes;
  }
}

export async function withDeliveries(
  t: Test,
): Promise<{ desk: DeliveringDesk; house: House; inbox: string }> {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  return { desk: new DeliveringDesk(house), house, inbox };
}
