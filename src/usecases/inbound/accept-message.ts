import { isRoleAddress } from '../../domain/addresses.js';
import { type AccountId, type InboxId, type MessageId, newId } from '../../domain/ids.js';
import { bytesToParse, NoRoomError, type RoomClaim } from '../../store/engine/room.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import { takeSequence } from '../../store/mailbox/folders.js';
import { type ReceivedRecord, saveMessage } from '../../store/mailbox/messages.js';
import { roleMailBytes } from '../../store/mailbox/role-mail.js';
import type { BlobUpload, BlobUploads } from '../../store/records/blob-upload.js';
import { type BlobRef, setBlobOwners } from '../../store/records/blobs.js';
import { getInbox } from '../../store/records/inboxes.js';
import { addPending } from '../../store/records/pending.js';
import {
  type AcceptOutcome,
  type Clock,
  type Envelope,
  IN_PROCESS,
  type InboundMail,
  type IncomingBody,
  type ResolvedRecipient,
  type WorkQueue,
} from '../ports.js';
import type { StorageLimits } from '../shared/storage.js';
import type { DataChecks } from './check-at-data.js';
import type { ParseWork } from './index-message.js';
import {
  type AuthorFinding,
  decide,
  type InboundRules,
  type ReceivingRules,
  receivingRules,
} from './receiving-rules.js';
import { type MailDomains, resolveRecipient, UploadedFrom } from './recipients.js';
import { StorageHolds } from './storage-holds.js';

export interface AcceptDeps {
  readonly store: Store;
  readonly uploads: BlobUploads;
  readonly clock: Clock;
  readonly queue: WorkQueue<ParseWork>;
  readonly mail: MailDomains;
  readonly limits: StorageLimits;
  /** What is done about authors that are not proven, and what finds them out; without, rules that ask for it refuse. */
  readonly authors?: { readonly rules: InboundRules; readonly checks: DataChecks };
}

/** Refuses nobody for not being proven. */
const TAKE_ANYBODY: InboundRules = { unauthenticated: 'accept', trustedSealers: [] };

/**
 * Takes mail in, however it arrives.
 *
 * The guarantee: an outcome `accepted` is given after the raw bytes, one record an inbox and its entry in
 * the pending index are on disk, all in one commit (the leading chunks of a long message in earlier ones,
 * which an unfinished upload leaves to the boot sweep). Before that nothing of the message can be seen;
 * after it nothing of the message can be lost, and it will be parsed because the pending index says so.
 * The offer to the queue that follows is only a hint.
 */
export function createInboundMail(deps: AcceptDeps): InboundMail {
  const storage = new StorageHolds(deps.store, deps.limits);
  return {
    hasRoom: () => deps.store.room.hasRoomFor(0),
    hasRoomFor: recipient => deps.store.read(reader => fitsRoleShare(reader, deps.store, recipient, 0)),
    resolveRecipient: address => {
      const inboxId = deps.store.read(reader => resolveRecipient(reader, deps.mail, address));
      return inboxId === null ? null : { inboxId, address, isRole: isRoleAddress(address) };
    },
    refusing: (recipients, fromAddresses) => {
      const sender = fromAddresses.find(address => address !== '') ?? '';
      const arrival = { recipients, fromAddresses, sender, isLocal: true, finding: null };
      const decision = deps.store.read(reader =>
        decide(reader, receivingRules(reader, recipients), TAKE_ANYBODY, arrival),
      );
      const willing = decision.status === 'take' ? decision.recipients : [];
      return recipients.filter(recipient => !willing.includes(recipient));
    },
    holdStorage: (recipient, declaredBytes, isNotice) => storage.hold(recipient, declaredBytes, isNotice),
    begin: () => new StoredBody(deps),
  };
}

/** Of the disk, mail to `postmaster` and `abuse` may take this part: anybody can send it, and it must be taken. */
const ROLE_SHARE_DIVISOR = 16;

/** Is a recipient no role address, or is there room in its share for so many bytes more? */
function fitsRoleShare(
  reader: Reader,
  { room }: Store,
  recipient: ResolvedRecipient,
  bytes: number,
): boolean {
  if (!recipient.isRole) return true;
  return roleMailBytes(reader, recipient.inboxId) + bytes <= room.shareBytes(ROLE_SHARE_DIVISOR);
}

class StoredBody implements IncomingBody {
  readonly #deps: AcceptDeps;
  readonly #upload: BlobUpload;
  /** Mail that is taken is parsed, which needs about its size again: room that nobody else gets meanwhile. */
  readonly #claim: RoomClaim;
  /** There was no room any more during the message: it is read to its end, but not kept. */
  #isWithoutRoom = false;

  constructor(deps: AcceptDeps) {
    this.#deps = deps;
    this.#upload = deps.uploads.begin();
    this.#claim = deps.store.room.claim();
  }

  write(chunk: Uint8Array): boolean {
    if (this.#isWithoutRoom) return true;
    if (!this.#claim.growTo(bytesToParse(this.#upload.size + chunk.length), chunk.length)) {
      this.#giveUp();
      return true;
    }
    return this.#upload.write(chunk);
  }

  async drained(): Promise<void> {
    if (this.#isWithoutRoom) return;
    try {
      await this.#upload.drained();
    } catch (error) {
      if (!(error instanceof NoRoomError)) throw error;
      this.#giveUp();
    }
  }

  async commit(envelope: Envelope, alongside: (writer: Writer) => void = () => {}): Promise<AcceptOutcome> {
    // Each inbox gets a content of its own.
    const inboxes = new Set(envelope.recipients.map(({ inboxId }) => inboxId)).size;
    const toParse = inboxes * bytesToParse(this.#upload.size);
    if (this.#isWithoutRoom || !this.#claim.growTo(toParse)) {
      this.abort();
      return { status: 'no_room' };
    }
    const { queue } = this.#deps;
    let outcome: StoreOutcome;
    try {
      outcome = await this.#store(envelope, alongside);
    } catch (error) {
      this.abort();
      if (error instanceof NoRoomError) return { status: 'no_room' };
      throw error;
    }
    if (outcome.status !== 'accepted') {
      this.abort();
      return outcome;
    }
    // From its commit on the store owes the room to the message itself (`saveMessage`).
    this.#claim.release();
    queue.offer(outcome.records);
    return { status: 'accepted', messageIds: outcome.records.map(({ id }) => id) };
  }

  abort(): void {
    this.#claim.release();
    if (!this.#isWithoutRoom) this.#upload.abort();
  }

  #giveUp(): void {
    this.abort();
    this.#isWithoutRoom = true;
  }

  async #store(envelope: Envelope, alongside: (writer: Writer) => void): Promise<StoreOutcome> {
    const { store } = this.#deps;
    const from = new UploadedFrom(this.#upload);
    let finding: AuthorFinding | null = null;
    for (;;) {
      const outcome = await store.write(writer => {
        const fits = envelope.recipients.every(one => fitsRoleShare(writer, store, one, this.#upload.size));
        if (!fits) return { status: 'no_room' as const };
        const stored = storeMessage(writer, this.#deps, { upload: this.#upload, from, finding }, envelope);
        if (stored.status === 'accepted') alongside(writer);
        return stored;
      });
      if (outcome.status === 'sender_unknown') await from.readAll(store);
      else if (outcome.status === 'unchecked') {
        finding = await this.#check(envelope, outcome);
        if (finding === null) return { status: 'check_later' };
      } else return outcome;
    }
  }

  async #check(envelope: Envelope, { account, mayReport }: Unchecked): Promise<AuthorFinding | null> {
    const { authors } = this.#deps;
    if (authors === undefined) return null;
    return authors.checks.check(this.#upload, envelope, account, mayReport);
  }
}

const NO_RULES: ReceivingRules = new Map();

/** As `AcceptOutcome`, with the records of the inboxes that take the message. */
type StoreOutcome =
  | Exclude<AcceptOutcome, { readonly status: 'accepted' }>
  | { readonly status: 'accepted'; readonly records: readonly ReceivedRecord[] };

/** The rules need the From header, and it is beyond what one unit of work may read: nothing was written. */
type SenderUnknown = { readonly status: 'sender_unknown' };

/** Rules need to know who has written it: nothing was written. The account is that of a recipient. */
interface Unchecked {
  readonly status: 'unchecked';
  readonly account: AccountId;
  readonly mayReport: boolean;
}

/** What is known of a message that has come. */
interface Arrived {
  readonly upload: BlobUpload;
  readonly from: UploadedFrom;
  readonly finding: AuthorFinding | null;
}

function storeMessage(
  writer: Writer,
  { clock, authors }: AcceptDeps,
  { upload, from, finding }: Arrived,
  envelope: Envelope,
): StoreOutcome | SenderUnknown | Unchecked {
  const inboxes = envelope.recipients.map(({ inboxId }) => getInbox(writer, inboxId));
  const live = envelope.recipients.filter((_, place) => inboxes[place] !== undefined);
  const account = inboxes.find(inbox => inbox !== undefined)?.accountId;
  if (account === undefined) return { status: 'no_recipients' };
  // The rules at this commit count: a change that an admin was told is saved applies.
  const rules = envelope.isNotice === true ? NO_RULES : receivingRules(writer, live);
  const senders = rules.size === 0 ? [] : from.readOn(writer);
  if (senders === null) return { status: 'sender_unknown' };
  const decision = decide(writer, rules, authors?.rules ?? TAKE_ANYBODY, {
    recipients: live,
    fromAddresses: senders,
    sender: envelope.from,
    isLocal: envelope.clientAddress === IN_PROCESS,
    finding,
  });
  if (decision.status === 'unchecked') return { ...decision, account };
  if (decision.status !== 'take') return decision;
  const recipients = firstAddresses(decision.recipients);
  const raw = upload.finish(writer);
  setBlobOwners(writer, raw.id, recipients.size);
  const nowMs = clock();
  const records: ReceivedRecord[] = [];
  for (const [inboxId, address] of recipients) {
    const { seq, at } = takeSequence(writer, { inboxId, kind: 'received' }, nowMs, clock.setBackMs);
    // Due now by the clock, even when the instant of the message is later because the clock was set back.
    const record: ReceivedRecord = {
      ...newRecord(inboxId, address, seq, raw, envelope, at),
      parseDueAt: nowMs,
      ...(finding === null ? {} : { checked: finding.authentication }),
    };
    saveMessage(writer, null, record);
    addPending(writer, nowMs, { kind: 'parse', id: record.id });
    records.push(record);
  }
  return { status: 'accepted', records };
}

/** One entry an inbox: two RCPTs that reach one inbox make one message, under the first address. */
function firstAddresses(recipients: readonly ResolvedRecipient[]): ReadonlyMap<InboxId, string> {
  const addresses = new Map<InboxId, string>();
  for (const { inboxId, address } of recipients) {
    if (!addresses.has(inboxId)) addresses.set(inboxId, address);
  }
  return addresses;
}

function newRecord(
  inboxId: InboxId,
  envelopeTo: string,
  seq: number,
  raw: BlobRef,
  envelope: Envelope,
  receivedAt: number,
): ReceivedRecord {
  return {
    id: newId<MessageId>(receivedAt),
    inboxId,
    kind: 'received',
    seq,
    labels: [],
    senders: [],
    recipients: [],
    trash: null,
    envelopeFrom: envelope.from,
    envelopeTo,
    receivedAt,
    clientAddress: envelope.clientAddress,
    helo: envelope.helo,
    raw,
    status: 'pending',
    tries: 0,
    interruptions: 0,
    parseDueAt: receivedAt,
    processedAt: null,
    failure: null,
    threadId: null,
    from: null,
    subject: null,
    messageId: null,
    content: null,
    attachments: [],
  };
}
