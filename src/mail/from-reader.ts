import { parseAddresses } from './address-list.js';
import type { HeaderFields } from './header-fields.js';
import { defaultParseLimits, type ParseLimits } from './limits.js';
import { PartSplitter } from './part-splitter.js';

/**
 * Bytes of From that are read, all fields of that name together: hundreds of mailboxes, and a few milliseconds
 * where others wait. What lies beyond counts as absent.
 */
const MAX_FROM_BYTES = 32 * 1024;

/**
 * Reads the mailboxes of From out of the beginning of a message, for whoever must know them before the message
 * is parsed. It is the header half of `parseMessage`, limits included, so that both see the same: what those
 * leave out is not there for either.
 */
export class FromReader {
  readonly #limits: ParseLimits;
  readonly #splitter: PartSplitter;
  #header: HeaderFields | null = null;

  constructor(limits: ParseLimits = defaultParseLimits) {
    this.#limits = { ...limits, headerFieldBytes: Math.min(limits.headerFieldBytes, MAX_FROM_BYTES) };
    const ignore = (): void => {};
    this.#splitter = new PartSplitter(
      {
        onHeader: fields => {
          this.#header ??= fields;
          return null;
        },
        onBody: ignore,
        onEnd: ignore,
      },
      this.#limits,
    );
  }

  /** The header is complete: nothing that follows matters. */
  get isDone(): boolean {
    return this.#header !== null;
  }

  push(bytes: Uint8Array): void {
    if (!this.isDone) this.#splitter.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }

  /** The addresses of every From field, members of groups included; what came last ends the header. */
  end(): readonly string[] {
    if (!this.isDone) this.#splitter.end();
    const addresses: string[] = [];
    let room = MAX_FROM_BYTES;
    for (const value of this.#header?.all('from') ?? []) {
      room -= value.length;
      if (room < 0) break;
      for (const entry of parseAddresses(value, this.#limits)) {
        for (const { address } of 'group' in entry ? entry.group : [entry]) {
          if (address !== '') addresses.push(address);
        }
      }
    }
    return addresses;
  }
}
