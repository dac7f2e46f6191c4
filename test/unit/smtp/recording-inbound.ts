import { EventEmitter, once } from 'node:events';
import { type InboxId, type MessageId, newId } from '../../../src/domain/ids.js';
import type {
  AcceptOutcome,
  Envelope,
  InboundMail,
  IncomingBody,
  ResolvedRecipient,
} from '../../../src/usecases/ports.js';

export interface RecordedMessage {
  readonly envelope: Envelope;
  readonly raw: Buffer;
  readonly id: MessageId;
}

/** What the listener has done with one body. */
export interface RecordedBody {
  writes: number;
  bytes: number;
  commits: number;
  aborts: number;
}

/** An `InboundMail` in memory that records its calls and can be made to fail. */
export class RecordingInbound extends EventEmitter implements InboundMail {
  readonly messages: RecordedMessage[] = [];
  readonly bodies: RecordedBody[] = [];
  /** Every address that was looked up, as given. */
  readonly asked: string[] = [];
  readonly inboxes = new Map<string, InboxId>();

  isFull = false;
  failResolving = false;
  failBegin = false;
  failWriting = false;
  /** If set, `write` returns false after each chunk and `drained` waits for `drain()`. */
  isSlow = false;
  /** If set, `drained` rejects. */
  failDraining = false;
  commitWith: (() => Promise<AcceptOutcome>) | null = null;
  #drain: (() => void)[] = [];

  constructor(addresses: readonly string[] = ['agent@example.org', 'other@example.org']) {
    super();
    for (const address of addresses) this.inboxes.set(address, newId<InboxId>(Date.now()));
  }

  hasRoom(): boolean {
    return !this.isFull;
  }

  hasRoomFor(): boolean {
    return true;
  }

  resolveRecipient(address: string): ResolvedRecipient | null {
    this.asked.push(address);
    if (this.failResolving) throw new Error('the store cannot be read');
    const inboxId = this.inboxes.get(address.toLowerCase());
    return inboxId === undefined ? null : { inboxId, address, isRole: false };
  }

  /** Addresses of recipients whose account is full; `held` counts what is under way to the others. */
  readonly full = new Set<string>();
  held = 0;

  holdStorage({ address }: ResolvedRecipient): (() => void) | null {
    if (this.full.has(address)) return null;
    this.held += 1;
    let isHeld = true;
    return () => {
      if (isHeld) this.held -= 1;
      isHeld = false;
    };
  }

  refusing(): [] {
    return [];
  }

  begin(): IncomingBody {
    if (this.failBegin) throw new Error('no transaction to be had');
    const chunks: Buffer[] = [];
    const record: RecordedBody = { writes: 0, bytes: 0, commits: 0, aborts: 0 };
    this.bodies.push(record);
    return {
      write: chunk => {
        if (record.commits + record.aborts > 0) throw new Error('write behind the end');
        if (this.failWriting) throw new Error('the store is gone');
        record.writes += 1;
        record.bytes += chunk.length;
        chunks.push(Buffer.from(chunk));
        this.emit('write', record);
        return !this.isSlow;
      },
      drained: () =>
        this.failDraining
          ? Promise.reject(new Error('the store failed'))
          : new Promise(resolve => {
              this.#drain.push(resolve);
            }),
      commit: async envelope => {
        record.commits += 1;
        this.emit('commit', record);
        if (this.commitWith !== null) return this.commitWith();
        const id = newId<MessageId>(Date.now());
        this.messages.push({ envelope, raw: Buffer.concat(chunks), id });
        return { status: 'accepted', messageIds: [id] };
      },
      abort: () => {
        record.aborts += 1;
        this.emit('abort', record);
      },
    };
  }

  /** Resolves all pending `drained` promises. */
  drain(): void {
    for (const resolve of this.#drain.splice(0)) resolve();
  }

  async waitFor(event: 'write' | 'commit' | 'abort'): Promise<void> {
    await once(this, event);
  }
}
