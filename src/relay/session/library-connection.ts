import type net from 'node:net';
import { TLSSocket } from 'node:tls';
import type { SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { codeOrReasonOf } from '../../lib/async.js';

/**
 * Members that we read or override and that the library's types leave out. `test/contract/relay-library` fails when a
 * new version of the library changes them.
 */
interface LibraryInternals {
  readonly _socket: net.Socket;
  /** Text that is not a whole reply yet, and replies that were not read yet. */
  readonly _remainder: string;
  readonly _responseQueue: readonly string[];
  /** What the last EHLO that counts was answered with, without codes and first line; unset after HELO. */
  readonly _ehloLines: readonly string[] | undefined;
  _sendCommand(line: string, logged?: string): void;
  _upgradeConnection(callback: (error: Error | null | undefined, isSecured?: boolean) => void): void;
  _onData(chunk: Buffer): void;
  _onError(error: Error, type: string, response: string | false, command: string): void;
  _onClose(): void;
}

const Base = SMTPConnection as unknown as new (
  options: SMTPConnectionOptions,
) => SMTPConnection & LibraryInternals;

/** Gets what happens on a connection that was taken over. */
export interface Receiver {
  data(chunk: Buffer): void;
  /** The connection is closed or failing. May be called more than once. */
  lost(words: string): void;
}

/** Says what is wrong with the server's certificate beyond what TLS itself checks; null: nothing. */
export type PeerCheck = (socket: TLSSocket) => string | null;

/**
 * A connection that the library sets up (greeting, EHLO, STARTTLS, AUTH) and that is ours from `takeOver` on. We do not
 * use the library to send a message: it lets DATA out before RCPT is answered, sends to the accepted when others were
 * refused, rewrites addresses, and does not tell a loss before the final dot from a loss after it.
 */
export class LibraryConnection extends Base {
  #receiver: Receiver | null = null;
  readonly #checkPeer: PeerCheck | null;
  #isStartingTls = false;
  #isTamperedWith = false;

  constructor(options: SMTPConnectionOptions, checkPeer: PeerCheck | null = null) {
    super(options);
    this.#checkPeer = checkPeer;
  }

  /** Was STARTTLS sent, and is the session not encrypted yet? */
  get isStartingTls(): boolean {
    return this.#isStartingTls && !this.secure;
  }

  /** Did plain text follow the 220 to STARTTLS? Somebody may have put it there to be read as encrypted. */
  get isTamperedWith(): boolean {
    return this.#isTamperedWith;
  }

  /** The extensions in the reply to EHLO: upper-case keywords with their parameters (RFC 5321 section 4.1.1.1). */
  get extensions(): ReadonlyMap<string, string> {
    return new Map(
      (this._ehloLines ?? []).map(line => {
        // Some servers write `AUTH=PLAIN`, as was usual before RFC 4954.
        const [keyword = '', ...parameters] = line.split(/[\s=]+/);
        return [keyword.toUpperCase(), parameters.join(' ')];
      }),
    );
  }

  get isClosed(): boolean {
    return this._socket.destroyed;
  }

  /** Has the server sent more than it was asked for? The next reply would be taken for the wrong command. */
  get isOutOfStep(): boolean {
    return this._remainder !== '' || this._responseQueue.length > 0;
  }

  /** From now on `receiver` gets every byte and every failure, and no timeout of the library applies. */
  takeOver(receiver: Receiver): net.Socket {
    this.#receiver = receiver;
    this._socket.setTimeout(0);
    return this._socket;
  }

  override _sendCommand(line: string, logged?: string): void {
    this.#isStartingTls = line === 'STARTTLS';
    super._sendCommand(line, logged);
  }

  /** The library discards plain text behind the 220 to STARTTLS (RFC 3207 section 6); we end the session. */
  override _upgradeConnection(
    callback: (error: Error | null | undefined, isSecured?: boolean) => void,
  ): void {
    this.#isTamperedWith = this.isOutOfStep;
    if (this.#isTamperedWith) {
      callback(new Error('plain text follows the reply to STARTTLS'));
      return;
    }
    super._upgradeConnection((error, isSecured) => callback(error ?? this.#peerFault(), isSecured));
  }

  #peerFault(): Error | null {
    if (this.#checkPeer === null) return null;
    const fault = this._socket instanceof TLSSocket ? this.#checkPeer(this._socket) : 'no TLS';
    return fault === null ? null : new Error(fault);
  }

  override _onData(chunk: Buffer): void {
    if (this.#receiver === null) super._onData(chunk);
    else this.#receiver.data(chunk);
  }

  override _onError(error: Error, type: string, response: string | false, command: string): void {
    if (this.#receiver === null) super._onError(error, type, response, command);
    else this.#receiver.lost(codeOrReasonOf(error));
  }

  override _onClose(): void {
    if (this.#receiver === null) super._onClose();
    else this.#receiver.lost('connection closed');
  }
}
