import type net from 'node:net';
import type { LibraryConnection } from './library-connection.js';
import { type Reply, ReplyReader } from './reply.js';

/** More replies than this that nobody has asked for are no dialogue any more. */
const MAX_UNREAD = 16;

export type LossReason = 'closed' | 'timeout' | 'malformed' | 'stopped';

/** The session is over: nothing more can be sent, nothing more will be answered. */
export class SessionLost extends Error {
  constructor(
    readonly reason: LossReason,
    /** For the admin. */
    readonly words: string,
  ) {
    super(`${reason}: ${words}`);
  }
}

/** What a mail transaction needs of a session. Every promise rejects with `SessionLost` once it is lost. */
export interface MailWire {
  /** The limit that the server announced (RFC 1870), or null. */
  readonly maxMessageBytes: number | null;
  readonly offersSize: boolean;
  /** A reply came that nobody has asked for. */
  readonly hasUnread: boolean;
  /** Sends a command line and gives its reply. A 421 that is there already is the reply (RFC 5321 section 3.8). */
  command(line: string, timeoutMs: number): Promise<Reply>;
  /** Resolves when the bytes have left this process, or before that when a reply came. */
  send(bytes: Uint8Array, timeoutMs: number): Promise<void>;
  nextReply(timeoutMs: number): Promise<Reply>;
}

/** What EHLO told of the server, keyword to parameters (RFC 5321 section 4.1.1.1); keywords in upper case. */
export type Extensions = ReadonlyMap<string, string>;

/**
 * An SMTP session that is set up and may carry mail transactions, one command at a time. Whatever goes wrong
 * with it, a reply that does not come in time included, loses it for good: the socket is destroyed.
 */
export class SmtpSession implements MailWire {
  readonly maxMessageBytes: number | null;
  readonly offersSize: boolean;
  /** Told when something happens that nobody waits for: a loss, or a reply out of turn. */
  onDisturbed: (() => void) | null = null;
  /** Transactions so far; kept by the pool. */
  messages = 0;
  readonly #connection: LibraryConnection;
  readonly #socket: net.Socket;
  readonly #reader = new ReplyReader();
  readonly #replies: Reply[] = [];
  #loss: SessionLost | null = null;
  /** Looks whether what is being waited for has come. */
  #look: (() => void) | null = null;

  constructor(connection: LibraryConnection, extensions: Extensions) {
    const size = Number(extensions.get('SIZE') ?? 0);
    this.offersSize = extensions.has('SIZE');
    // SIZE without a number, or 0, announces no limit (RFC 1870 section 4).
    this.maxMessageBytes = Number.isSafeInteger(size) && size > 0 ? size : null;
    this.#connection = connection;
    this.#socket = connection.takeOver({
      data: chunk => this.#take(chunk),
      lost: words => this.#lose('closed', this.#withUnfinished(words)),
    });
  }

  /** Nothing stands against another transaction. */
  get isUsable(): boolean {
    return this.#loss === null && !this.hasUnread;
  }

  get hasUnread(): boolean {
    return this.#replies.length > 0;
  }

  async command(line: string, timeoutMs: number): Promise<Reply> {
    const early = this.#replies.shift();
    if (early?.code === 421) return early;
    // Answers are told apart by their order alone: one too many, and every later one is another's.
    if (early !== undefined) throw this.#lose('malformed', 'a reply that nobody asked for');
    if (this.#loss === null) this.#socket.write(`${line}\r\n`, 'latin1');
    return this.nextReply(timeoutMs);
  }

  async send(bytes: Uint8Array, timeoutMs: number): Promise<void> {
    if (this.#loss !== null) throw this.#loss;
    let hasLeft = false;
    this.#socket.write(bytes, error => {
      hasLeft = error === null || error === undefined;
      this.#look?.();
    });
    await this.#until(() => hasLeft || this.hasUnread, timeoutMs);
  }

  async nextReply(timeoutMs: number): Promise<Reply> {
    await this.#until(() => this.hasUnread, timeoutMs);
    const reply = this.#replies.shift();
    if (reply === undefined) throw new Error('no reply though there was one');
    return reply;
  }

  /** RSET: ends whatever transaction there is. True when the session can be used again. */
  async reset(timeoutMs: number): Promise<boolean> {
    try {
      const { code } = await this.command('RSET', timeoutMs);
      return code === 250 && this.isUsable;
    } catch {
      return false;
    }
  }

  /** Takes leave (RFC 5321 section 4.1.1.10), and does not insist on an answer. Never rejects. */
  async quit(timeoutMs: number): Promise<void> {
    if (this.#loss === null) await this.command('QUIT', timeoutMs).catch(() => {});
    this.destroy();
  }

  /** Ends the session at once; whoever waits for something of it is told so. */
  destroy(): void {
    this.#lose('stopped', 'ended by us');
  }

  #take(chunk: Buffer): void {
    for (const read of this.#reader.feed(chunk)) {
      if (read.status === 'reply') this.#replies.push(read.reply);
      else this.#lose('malformed', `no SMTP reply: "${read.words}"`);
    }
    if (this.#replies.length > MAX_UNREAD) this.#lose('malformed', 'replies that nobody asked for');
    this.#changed();
  }

  #lose(reason: LossReason, words: string): SessionLost {
    if (this.#loss !== null) return this.#loss;
    this.#loss = new SessionLost(reason, words);
    this.#connection.close();
    this.#changed();
    return this.#loss;
  }

  #changed(): void {
    if (this.#look !== null) this.#look();
    else if (!this.isUsable) this.onDisturbed?.();
  }

  /** A reply that has come is given out even when the connection ended behind it. */
  #until(isDone: () => boolean, timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#lose('timeout', `no answer within ${timeoutMs} ms`), timeoutMs);
      const end = (): void => {
        clearTimeout(timer);
        this.#look = null;
      };
      this.#look = () => {
        if (isDone()) {
          end();
          resolve();
        } else if (this.#loss !== null) {
          end();
          reject(this.#loss);
        }
      };
      this.#look();
    });
  }

  #withUnfinished(words: string): string {
    const { unfinished } = this.#reader;
    return unfinished === '' ? words : `${words}, in the middle of a reply: "${unfinished}"`;
  }
}
