import { createHash } from 'node:crypto';
import type { InboxId } from '../../domain/ids.js';
import type { EntryPart } from '../../mail/read/mbox.js';
import type { Store } from '../../store/engine/store.js';
import { scanTrash } from '../../store/mailbox/index.js';
import { getMessage } from '../../store/mailbox/messages.js';
import { type BlobRef, readBlob } from '../../store/records/blobs.js';
import { receivedOf } from '../mailbox/export-messages.js';
import {
  type Envelope,
  IMPORTED,
  type InboundMail,
  type IncomingBody,
  type ResolvedRecipient,
} from '../ports.js';
import { countOwed } from './owed-room.js';

/** What became of a message that was brought in. */
export type ImportResult =
  | { readonly kind: 'imported' }
  /** The inbox has the very bytes already. */
  | { readonly kind: 'there' }
  /** It is left out, and the next one is taken. */
  | { readonly kind: 'left_out'; readonly reason: string }
  /** Nothing more can be taken: why, and what to do. */
  | { readonly kind: 'stopped'; readonly reason: string };

export interface ImportDeps {
  readonly store: Store;
  readonly inbound: InboundMail;
  readonly maxMessageBytes: number;
}

/** How much of a message is looked at to see whether it is one. */
const HEAD_BYTES = 2_000;
const BATCH = 500;
/** After so many messages it is looked which of them the daemon has parsed by now. */
const COUNT_EVERY = 1_000;

/**
 * Brings messages into an inbox as if they had arrived now: each is durable before it is told, counts for its account,
 * and is parsed by the daemon. Its Date field stays; receiving rules do not bind it, and nothing is said of who has
 * written it. A message whose bytes the inbox has is not taken twice, one in Trash neither.
 */
export class MessageImport {
  readonly #deps: ImportDeps;
  readonly #recipient: ResolvedRecipient;
  readonly #known: KnownMessages;
  #imported = 0;

  constructor(deps: ImportDeps, inboxId: InboxId, address: string) {
    this.#deps = deps;
    this.#recipient = { inboxId, address, isRole: false };
    this.#known = new KnownMessages(deps.store, inboxId);
  }

  /** Takes in what a file holds, and tells of each message in its order. */
  async *run(parts: AsyncIterable<EntryPart>): AsyncGenerator<ImportResult> {
    let entry: Entry | null = null;
    try {
      for await (const part of parts) {
        if (part.kind === 'begin') {
          entry = new Entry(this.#deps.inbound.begin(), part.separator, this.#deps.maxMessageBytes);
        } else if (part.kind === 'bytes') {
          await entry?.write(part.bytes);
        } else if (entry !== null) {
          const ended: Entry = entry;
          entry = null;
          const result = await this.#finish(ended);
          yield result;
          if (result.kind === 'stopped') return;
        }
      }
    } finally {
      entry?.abort();
    }
  }

  async #finish(entry: Entry): Promise<ImportResult> {
    const { inbound } = this.#deps;
    const fault = entry.fault();
    const digest = entry.digest();
    const { bytes } = entry;
    if (fault !== null || (await this.#known.has(bytes, digest))) {
      entry.abort();
      return fault === null ? { kind: 'there' } : { kind: 'left_out', reason: fault };
    }
    const release = inbound.holdStorage(this.#recipient, bytes);
    if (release === null) {
      entry.abort();
      return {
        kind: 'stopped',
        reason:
          'the account stores as much as it may (limits.storage_mib, "postern allowance"): make room, and run the same command again',
      };
    }
    try {
      const outcome = await entry.commit(this.#recipient);
      switch (outcome.status) {
        case 'accepted':
          this.#known.add(bytes, digest);
          this.#imported += 1;
          if (this.#imported % COUNT_EVERY === 0) await countOwed(this.#deps.store);
          return { kind: 'imported' };
        case 'no_room':
          return {
            kind: 'stopped',
            reason: 'the disk or the store has no room left: make room, and run the same command again',
          };
        case 'no_recipients':
          return { kind: 'stopped', reason: 'the inbox was deleted meanwhile: name another one' };
        default:
          return { kind: 'left_out', reason: `it is not taken (${outcome.status})` };
      }
    } finally {
      release();
    }
  }
}

/** One message on its way in. */
class Entry {
  readonly #body: IncomingBody;
  readonly #separator: string | null;
  readonly #maxBytes: number;
  readonly #hash = createHash('sha256');
  #head = Buffer.alloc(0);
  #isAborted = false;
  bytes = 0;

  constructor(body: IncomingBody, separator: string | null, maxBytes: number) {
    this.#body = body;
    this.#separator = separator;
    this.#maxBytes = maxBytes;
  }

  async write(bytes: Buffer): Promise<void> {
    this.bytes += bytes.length;
    if (this.bytes > this.#maxBytes) {
      this.abort();
      return;
    }
    this.#hash.update(bytes);
    if (this.#head.length < HEAD_BYTES) {
      this.#head = Buffer.concat([this.#head, bytes.subarray(0, HEAD_BYTES - this.#head.length)]);
    }
    if (!this.#body.write(bytes)) await this.#body.drained();
  }

  /** Why it is no message that can be taken; null when it is one. */
  fault(): string | null {
    if (this.bytes > this.#maxBytes) {
      return `it has ${this.bytes} bytes, more than smtp.max_message_bytes (${this.#maxBytes})`;
    }
    const head = this.#head.toString('latin1');
    // RFC 5322 section 2.2: a name of printable characters, and a colon.
    return /^[\x21-\x39\x3b-\x7e]+[ \t]*:/.test(head)
      ? null
      : 'it does not begin with header fields, as a message does';
  }

  digest(): string {
    return this.#hash.digest('base64');
  }

  commit(recipient: ResolvedRecipient): ReturnType<IncomingBody['commit']> {
    const envelope: Envelope = {
      from: this.#sender(),
      recipients: [recipient],
      clientAddress: IMPORTED,
      helo: '',
      isNotice: true,
    };
    return this.#body.commit(envelope);
  }

  abort(): void {
    if (!this.#isAborted) this.#body.abort();
    this.#isAborted = true;
  }

  /** Of the separator, else of Return-Path; unknown, it is the null sender. */
  #sender(): string {
    const separator = /^From (\S+@\S+)/.exec(this.#separator ?? '')?.[1];
    const [header = ''] = this.#head.toString('latin1').split(/\r?\n\r?\n/, 1);
    const path = /^Return-Path:[ \t]*<([^<>\s]*)>/im.exec(header)?.[1];
    const sender = path ?? separator ?? '';
    return /^[\x21-\x7e]{1,320}$/.test(sender) ? sender : '';
  }
}

/** What an inbox has, by length; digests are made of those that a new message might be. */
class KnownMessages {
  readonly #store: Store;
  readonly #inboxId: InboxId;
  #bySize: Map<number, (BlobRef | string)[]> | null = null;

  constructor(store: Store, inboxId: InboxId) {
    this.#store = store;
    this.#inboxId = inboxId;
  }

  async has(bytes: number, digest: string): Promise<boolean> {
    const candidates = (await this.#all()).get(bytes) ?? [];
    for (const [at, candidate] of candidates.entries()) {
      const known = typeof candidate === 'string' ? candidate : await this.#digestOf(candidate);
      candidates[at] = known;
      if (known === digest) return true;
    }
    return false;
  }

  add(bytes: number, digest: string): void {
    const known = this.#bySize?.get(bytes);
    if (known === undefined) this.#bySize?.set(bytes, [digest]);
    else known.push(digest);
  }

  async #digestOf(ref: BlobRef): Promise<string> {
    const hash = createHash('sha256');
    try {
      for await (const chunk of readBlob(this.#store, ref)) hash.update(chunk);
    } catch {
      // It was deleted meanwhile, or is damaged: it is not the same.
      return '';
    }
    return hash.digest('base64');
  }

  *#trashed(): Generator<BlobRef> {
    for (let before: number | null = null; ; ) {
      const batch = this.#store.read(reader =>
        scanTrash(reader, this.#inboxId, before, BATCH).map(({ number, message }) => ({
          number,
          raw: getMessage(reader, message.id)?.raw,
        })),
      );
      for (const { raw } of batch) if (raw !== undefined) yield raw;
      const last = batch.at(-1);
      if (last === undefined || batch.length < BATCH) return;
      before = last.number;
    }
  }

  async #all(): Promise<Map<number, (BlobRef | string)[]>> {
    if (this.#bySize !== null) return this.#bySize;
    const bySize = new Map<number, (BlobRef | string)[]>();
    const note = (raw: BlobRef): void => {
      const same = bySize.get(raw.size);
      if (same === undefined) bySize.set(raw.size, [raw]);
      else same.push(raw);
    };
    for await (const { raw } of receivedOf(this.#store, this.#inboxId)) note(raw);
    for (const raw of this.#trashed()) note(raw);
    this.#bySize = bySize;
    return bySize;
  }
}
