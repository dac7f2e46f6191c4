import { randomInt } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { PosternBox } from '../box/postern-box.js';
import { acceptedId, type Letter, writeLetter } from '../letters/letters.js';
import { SENDER } from './deliver.js';
import { SmtpClient, stuff, UnexpectedReply } from './smtp-client.js';

export interface Acknowledged {
  readonly id: string;
  readonly letter: Letter;
  readonly address: string;
}

/** How one letter fared, over all the times it was sent. */
export interface Sent {
  readonly letter: Letter;
  /** Ids of the 250 replies. */
  readonly ids: string[];
  /** Times that its final dot may have reached the server without an answer: it may be there as often, or not. */
  unknown: number;
}

export interface SendersOptions {
  readonly count: number;
  readonly addresses: readonly string[];
  /** Size of the next letter. */
  readonly letterBytes: () => number;
  /** What the next letter refers to. */
  readonly references?: () => readonly string[];
}

/** How long a letter waits that was not taken. */
const RETRY_MS = 20;

/** Mostly short letters, some with a picture, a few long ones. */
export function mixedSizes(): number {
  const share = randomInt(100);
  if (share < 70) return randomInt(500, 6_000);
  if (share < 90) return 75_000;
  if (share < 98) return 300_000;
  return 2_000_000;
}

/**
 * Mail servers that send without a pause and do as RFC 5321 section 4.5.4 asks of them: what was not
 * acknowledged is sent again, as often as it takes. They keep book of what they were told.
 */
export class Senders {
  readonly #box: PosternBox;
  readonly #options: SendersOptions;
  readonly #book: Sent[] = [];
  readonly #events = new EventEmitter();
  readonly #refusals = new Map<number, number>();
  #acknowledged = 0;
  #isStopping = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(box: PosternBox, options: SendersOptions) {
    this.#box = box;
    this.#options = options;
    this.#events.setMaxListeners(0);
  }

  get book(): readonly Sent[] {
    return this.#book;
  }

  /** 250 replies so far. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Other replies to a transaction than acceptance, by code. */
  get refusals(): ReadonlyMap<number, number> {
    return this.#refusals;
  }

  start(): void {
    const lanes = Array.from({ length: this.#options.count }, () => this.#lane());
    this.#running = Promise.all(lanes);
  }

  /** Resolves after `count` more acknowledgements. */
  async more(count: number): Promise<void> {
    const goal = this.#acknowledged + count;
    while (this.#acknowledged < goal) await once(this.#events, 'acknowledged');
  }

  /** Resolves after `count` more refusals. */
  async moreRefusals(count: number): Promise<void> {
    for (let left = count; left > 0; left--) await once(this.#events, 'refused');
  }

  /** Stops the senders, each once the letter that it is sending has been acknowledged. */
  async finish(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  async #lane(): Promise<void> {
    const { addresses, letterBytes, references = () => [] } = this.#options;
    let client: SmtpClient | null = null;
    while (!this.#isStopping) {
      const letter = writeLetter({ bytes: letterBytes(), references: references() });
      const sent: Sent = { letter, ids: [], unknown: 0 };
      this.#book.push(sent);
      const address = addresses[randomInt(addresses.length)] ?? '';
      while (sent.ids.length === 0) {
        client ??= await this.#connect();
        if (!(await this.#try(client, sent, address))) {
          client.destroy();
          client = null;
          await delay(RETRY_MS);
        } else if (randomInt(10) === 0) {
          await client.close();
          client = null;
        }
      }
    }
    await client?.close();
  }

  async #connect(): Promise<SmtpClient> {
    for (;;) {
      await this.#box.untilReady();
      try {
        return await SmtpClient.ready(this.#box.smtpPort);
      } catch {
        // The daemon was killed between the two lines above.
        await new Promise(setImmediate);
      }
    }
  }

  /** True when the letter was acknowledged. */
  async #try(client: SmtpClient, sent: Sent, address: string): Promise<boolean> {
    try {
      await client.openData(SENDER, [address]);
    } catch (error) {
      if (error instanceof UnexpectedReply && error.reply !== null) this.#refused(error.reply.code);
      return false;
    }
    await client.write(stuff(sent.letter.raw));
    const reply = await client.reply();
    if (reply === null) {
      sent.unknown += 1;
      return false;
    }
    if (reply.code !== 250) {
      this.#refused(reply.code);
      return false;
    }
    sent.ids.push(acceptedId(reply));
    this.#acknowledged += 1;
    this.#events.emit('acknowledged');
    return true;
  }

  #refused(code: number): void {
    this.#refusals.set(code, (this.#refusals.get(code) ?? 0) + 1);
    this.#events.emit('refused');
  }
}
