import type net from 'node:net';
import type { SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { codeOrReasonOf } from '../../lib/async.js';

/**
 * What the library's types leave out and we look at or replace. `test/contract/relay-library` fails when a
 * new version of the library changes any of it.
 */
interface LibraryInternals {
  readonly _socket: net.Socket;
  /** Text of the server that is no whole reply yet, and replies that nobody has taken yet. */
  readonly _remainder: string;
  readonly _responseQueue: readonly string[];
  _onData(chunk: Buffer): void;
  _onError(error: Error, type: string, response: string | false, command: string): void;
  _onClose(): void;
}

const Base = SMTPConnection as unknown as new (
  options: SMTPConnectionOptions,
) => SMTPConnection & LibraryInternals;

/** Hears what happens on a connection that was taken over. */
export interface Receiver {
  data(chunk: Buffer): void;
  /** The connection is gone or failing; may be called more than once. */
  lost(words: string): void;
}

/**
 * A connection that the library sets up (greeting, EHLO, STARTTLS, AUTH) and that is ours from `takeOver`
 * on. The library's way of sending a message is not used: it pipelines DATA behind RCPT, sends the message
 * to those recipients that were accepted, rewrites addresses, and reports a loss before the final dot and
 * one behind it alike.
 */
export class LibraryConnection extends Base {
  #receiver: Receiver | null = null;

  /** The server sent more than it was asked for: what comes next would be taken for another answer. */
  get isOutOfStep(): boolean {
    return this._remainder !== '' || this._responseQueue.length > 0;
  }

  /** From here on every byte and every failure goes to `receiver`, and timeouts are the receiver's affair. */
  takeOver(receiver: Receiver): net.Socket {
    this.#receiver = receiver;
    this._socket.setTimeout(0);
    return this._socket;
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
