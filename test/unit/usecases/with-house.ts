import type { Test } from 'tap';
import type { AccountId, InboxId, MessageId } from '../../../src/domain/ids.js';
import { NO_FILTER } from '../../../src/domain/message-filter.js';
import { CursorCodec } from '../../../src/domain/paging.js';
import type { Store, StoreOptions } from '../../../src/store/engine/store.js';
import { getMessage, type ReceivedRecord } from '../../../src/store/mailbox/messages.js';
import { BlobUploads } from '../../../src/store/records/blob-upload.js';
import { listDue } from '../../../src/store/records/pending.js';
import { createAccount } from '../../../src/usecases/accounts/accounts.js';
import { createInboundMail } from '../../../src/usecases/inbound/accept-message.js';
import { type CreateInboxDeps, createInbox } from '../../../src/usecases/inboxes/create-inbox.js';
import {
  type AcceptOutcome,
  type Clock,
  type Envelope,
  type InboundMail,
  SILENT,
} from '../../../src/usecases/ports.js';
import { sweep } from '../../../src/usecases/upkeep/sweep.js';
import { withStore } from '../store/with-store.js';

export const DOMAINS = ['example.org', 'example.net'] as const;
export const DAY_MS = 24 * 60 * 60 * 1000;

/** A list of received mail without any condition. */
export const ALL_MAIL = { kind: 'received', filter: NO_FILTER, order: 'newest' } as const;

export const silent = SILENT;

/** What the clock of a house says; as a watched clock, when the rest is given too. */
export interface SetTime {
  ms: number;
  setBackMs?: number;
  isInDoubt?: boolean;
}

/** Store and use cases as the daemon wires them, with a clock that stands still until it is set. */
export interface House {
  readonly store: Store;
  readonly uploads: BlobUploads;
  readonly now: SetTime;
  readonly clock: Clock;
  readonly cursors: CursorCodec;
  readonly retentionDays: number;
  readonly inboxes: CreateInboxDeps;
  readonly inbound: InboundMail;
  /** Ids that were offered to the queue. */
  readonly offered: MessageId[];
  readonly account: AccountId;
  /** Makes an inbox and gives its id. */
  readonly addInbox: (localPart: string, accountId?: AccountId) => Promise<InboxId>;
  readonly addAccount: (email: string) => Promise<AccountId>;
  /** Takes a message in for these inboxes. */
  readonly accept: (body: Uint8Array | string, ...inboxes: InboxId[]) => Promise<AcceptOutcome>;
  /** The same, and its id in the first inbox. */
  readonly receive: (body: Uint8Array | string, ...inboxes: InboxId[]) => Promise<MessageId>;
  readonly message: (id: MessageId) => ReceivedRecord | undefined;
  /** Ids of messages that are due to be parsed by the end of time. */
  readonly pending: () => MessageId[];
  readonly sweepAll: () => Promise<void>;
}

export async function withHouse(
  t: Test,
  options: Partial<StoreOptions> & { inboxLimit?: number } = {},
): Promise<House> {
  const house = houseOn(await withStore(t, options), { ms: Date.UTC(2026, 0, 15, 12) }, options.inboxLimit);
  return inNameOf(house, await house.addAccount('owner@elsewhere.example'));
}

/** A house whose inboxes are this account's, unless another is named. */
export function inNameOf(house: Omit<House, 'account'>, account: AccountId): House {
  return {
    ...house,
    account,
    addInbox: (localPart, accountId = account) => house.addInbox(localPart, accountId),
  };
}

/** A house over a store that is open. */
export function houseOn(store: Store, now: SetTime, inboxLimit = 5): Omit<House, 'account'> {
  const uploads = new BlobUploads(store);
  const clock: Clock = Object.defineProperties(() => now.ms, {
    setBackMs: { get: () => now.setBackMs ?? 0 },
    isInDoubt: { get: () => now.isInDoubt ?? false },
  });
  const offered: MessageId[] = [];
  const inboxes: CreateInboxDeps = {
    store,
    clock,
    limits: { inboxes: inboxLimit, sends: 25, storageMib: 2048 },
    domains: DOMAINS,
    reservedLocalParts: ['billing'],
    increaseRequest: 'Ask for more.',
    policyUrl: 'https://example.org/policy',
  };
  const inbound = createInboundMail({
    store,
    uploads,
    clock,
    queue: { offer: work => void offered.push(...work.map(({ id }) => id)) },
    mail: { domains: DOMAINS, postmasterInbox: null },
    limits: { storageMib: 2048 },
  });
  const addAccount = async (email: string) =>
    (await createAccount({ store, clock }, email)).account_id as AccountId;
  const accept: House['accept'] = async (body, ...ids) => {
    const incoming = inbound.begin();
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    for (let at = 0; at < bytes.length; at += 65_536) {
      if (!incoming.write(bytes.slice(at, at + 65_536))) await incoming.drained();
    }
    return incoming.commit(envelopeTo(...ids));
  };
  return {
    store,
    uploads,
    now,
    clock,
    cursors: new CursorCodec('c2VjcmV0'),
    retentionDays: 7,
    inboxes,
    inbound,
    offered,
    addAccount,
    addInbox: async (localPart, accountId) => {
      if (accountId === undefined) throw new Error('an inbox needs an account');
      return (await createInbox(inboxes, { accountId, local_part: localPart })).id as InboxId;
    },
    accept,
    receive: async (body, ...ids) => {
      const outcome = await accept(body, ...ids);
      if (outcome.status !== 'accepted') throw new Error(`not accepted: ${outcome.status}`);
      return outcome.messageIds[0]!;
    },
    message: id => store.read(reader => getMessage(reader, id)),
    pending: () => store.read(reader => listDue(reader, 'parse', 2 ** 47, 10_000)).map(due => due.work.id),
    sweepAll: () => sweep({ store, clock, auditRetentionDays: 400 }, () => false),
  };
}

export function envelopeTo(...ids: InboxId[]): Envelope {
  return {
    from: 'sender@elsewhere.example',
    recipients: ids.map((inboxId, n) => ({ inboxId, address: `rcpt${n}@example.org`, isRole: false })),
    clientAddress: '192.0.2.1',
    helo: 'mx.elsewhere.example',
  };
}
