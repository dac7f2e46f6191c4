import type net from 'node:net';
import { TLSSocket } from 'node:tls';
import type { LibraryConnection } from './library-connection.js';
import { ReplyReader, type ServerReply } from './reply.js';

/** With more unexpected replies than this the session is given up. */
const MAX_UNREAD = 16;

export type LossReason = 'closed' | 'timeout' | 'malformed' | 'stopped';

/** The session is over: nothing more can be sent or received. */
export class SessionLost extends Error {
  constructor(
    readonly reason: LossReason,
    /** For the admin. */
    readonly words: string,
  ) {
    super(`${reason}: ${words}`);
  }
}

/** What a mail transaction needs from a session. Every promise rejects with `SessionLost` once it is lost. */
export interface MailWire {
  /** The size limit that the server announced (RFC 1870), or null. */
  readonly maxMessageBytes: number | null;
  readonly offersSize: boolean;
  /** Is there a reply that was not read yet? */
  readonly hasUnread: boolean;
  /**
   * Sends a command line and resolves with its reply. A 421 that the server sent before the command is taken for its
   * reply (RFC 5321 section 3.8).
   */
  command(line: string, timeoutMs: number): Promise<ServerReply>;
  /** Resolves when the bytes have been written to the network, or as soon as a reply comes. */
  send(bytes: Uint8Array, timeoutMs: number): Promise<void>;
  nextReply(timeoutMs: number): Promise<ServerReply>;
}

/**
 * An SMTP session that is set up and can carry mail transactions, one command at a time. After any failure, including
 * a timeout, the session is lost and its socket destroyed.
 */
export class SmtpSession implements MailWire {
  readonly maxMessageBytes: number | null;
  readonly offersSize: boolean;
  /** May commands be sent before the replies to earlier ones have come (RFC 2920)? */
  readonly offersPipelining: boolean;
  /** Protocol of the encryption, such as `TLSv1.3`; null in plain text. */
  readonly protocol: string | null;
  /** IP address of the server. */
  readonly address: string;
  /** Called when the session is lost, or a reply comes, while nobody waits for anything. */
  onDisturbed: (() => void) | null = null;
  /** Transactions so far; counted by the pool. */
  messages = 0;
  readonly #connection: LibraryConnection;
  readonly #socket: net.Socket;
  readonly #reader = new ReplyReader();
  readonly #replies: ServerReply[] = [];
  /** Commands that were sent and whose replies were not read. */
  #due = 0;
  #loss: SessionLost | null = null;
  /** Checks whether what is waited for has come; null while nobody waits. */
  #look: (() => void) | null = null;

  constructor(connection: LibraryConnection) {
    const { extensions } = connection;
    const size = Number(extensions.get('SIZE') ?? 0);
    this.offersSize = extensions.has('SIZE');
    // SIZE without a number, or 0, announces no limit (RFC 1870 section 4).
    this.maxMessageBytes = Number.isSafeInteger(size) && size > 0 ? size : null;
    this.offersPipelining = extensions.has('PIPELINING');
    this.#connection = connection;
    this.#socket = connection.takeOver({
      data: chunk => this.#take(chunk),
      lost: words => this.#lose('closed', this.#withUnfinished(words)),
    });
    this.protocol = this.#socket instanceof TLSSocket ? this.#socket.getProtocol() : null;
    this.address = this.#socket.remoteAddress ?? '';
  }

  /** Can it carry another transaction? */
  get isUsable(): boolean {
    return this.#loss === null && !this.hasUnread;
  }

  get hasUnread(): boolean {
    return this.#replies.length > 0;
  }

  async command(line: string, timeoutMs: number): Promise<ServerReply> {
    this.issue([line]);
    return this.nextReply(timeoutMs);
  }

  /**
   * Sends command lines at once (RFC 2920); `nextReply` gives their replies in order. Nothing is sent when the server
   * has said 421 already, which is then the next reply.
   */
  issue(lines: readonly string[]): void {
    const [early] = this.#replies;
    if (early?.code === 421) return;
    // Replies are matched to commands by their order alone. After one too many, all later ones would be wrong.
    if (early !== undefined) throw this.#lose('malformed', 'a reply that nobody asked for');
    if (this.#loss !== null) return;
    this.#due += lines.length;
    this.#socket.write(lines.map(line => `${line}\r\n`).join(''), 'latin1');
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

  async nextReply(timeoutMs: number): Promise<ServerReply> {
    await this.#until(() => this.hasUnread, timeoutMs);
    const reply = this.#replies.shift();
    if (reply === undefined) throw new Error('no reply though there was one');
    this.#due = Math.max(0, this.#due - 1);
    return reply;
  }

  /** Sends RSET, which aborts any transaction. True when the session can be used again. Never rejects. */
  async reset(timeoutMs: number): Promise<boolean> {
    try {
      const { code } = await this.command('RSET', timeoutMs);
      return code === 250 && this.isUsable;
    } catch {
      return false;
    }
  }

  /** Sends QUIT (RFC 5321 section 4.1.1.10) and closes, whether a reply comes or not. Never rejects. */
  async quit(timeoutMs: number): Promise<void> {
    if (this.#loss === null) await this.command('QUIT', timeoutMs).catch(() => {});
    this.destroy();
  }

  /** Ends the session at once. A pending promise rejects with `SessionLost`. */
  destroy(): void {
    this.#lose('stopped', 'ended by us');
  }

  #take(chunk: Buffer): void {
    for (const read of this.#reader.feed(chunk)) {
      if (read.status === 'reply') this.#replies.push(read.reply);
      else this.#lose('malformed', `no SMTP reply: "${read.words}"`);
    }
    if (this.#replies.length > this.#due + MAX_UNREAD)
      this.#lose('malformed', 'replies that nobody asked for');
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

  /** Waits for `isDone`, which is checked before a loss: a reply counts even if the connection was lost after it. */
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
