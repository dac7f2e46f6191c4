import type { Test } from 'tap';
import type { SendInput } from '../../../../src/contract/sending.js';
import type { InboxId, MessageId } from '../../../../src/domain/ids.js';
import type { Store } from '../../../../src/store/engine/store.js';
import { getSent, type SentRecord } from '../../../../src/store/mailbox/messages.js';
import { usedAllowance } from '../../../../src/store/records/charges.js';
import { END_OF_TIME, listDue } from '../../../../src/store/records/pending.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { readFacts } from '../../../support/box/store-facts.js';
import { ScriptedRelay } from '../../../support/sending/scripted-relay.js';
import { SendingSide } from '../../../support/sending/sending-side.js';
import { must, sendMessage } from '../../../support/use-cases.js';
import { type House, withHouse } from '../with-house.js';

export interface SendingHouse extends House {
  readonly inboxId: InboxId;
  readonly relay: ScriptedRelay;
  /** The sending side of the process that runs now. */
  side: SendingSide;
  /** What a process that ends leaves is in the store alone: another one begins, on this store or the same. */
  readonly restart: (store?: Store) => void;
  /** Sends `Hello` to one recipient, or what is given. */
  readonly submit: (fields?: Partial<SendInput>) => ReturnType<typeof sendMessage>;
  readonly sent: (id: string) => SentRecord | undefined;
  readonly used: () => number;
  /** Ids of attempts that the queue is fed with. */
  readonly pendingRelays: () => MessageId[];
}

export interface SendingOptions {
  readonly responseTimeoutMs?: number;
  /** Allowance of an account. */
  readonly sends?: number;
}

/** A house with an inbox `agent` that sends through a scripted relay. */
export async function withSending(t: Test, options: SendingOptions = {}): Promise<SendingHouse> {
  const house = await withHouse(t);
  const inboxId = await house.addInbox('agent');
  const relay = new ScriptedRelay();
  const sideOn = (store: Store) => new SendingSide({ ...options, store, clock: house.clock, relay });
  const sending: SendingHouse = {
    ...house,
    inboxId,
    relay,
    side: sideOn(house.store),
    restart: (store = house.store) => {
      sending.side = sideOn(store);
    },
    submit: (fields = {}) =>
      sendMessage(sending.side.send, {
        accountId: house.account,
        inboxId,
        to: [{ address: 'ann@remote.example' }],
        subject: 'Notes',
        text: 'Hello',
        ...fields,
      }),
    sent: id => house.store.read(reader => getSent(reader, id as MessageId)),
    used: () => house.store.read(reader => usedAllowance(reader, house.account, house.now.ms)),
    pendingRelays: () =>
      house.store.read(reader => listDue(reader, 'relay', END_OF_TIME, 10_000)).map(({ work }) => work.id),
  };
  return sending;
}

/** What a send has to come to in a test. */
export async function receiptOf(sent: ReturnType<SendingHouse['submit']>) {
  return must(await sent);
}

/** What does not hold together in the store; empty when it is sound. */
export function faultsOf({ store }: House): readonly string[] {
  return [...readFacts(store).faults, ...verifyStore(store).faults];
}
