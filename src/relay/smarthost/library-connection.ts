import type net from 'node:net';
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

/**
 * A connection that the library sets up (greeting, EHLO, STARTTLS, AUTH) and that is ours from `takeOver` on. We do not
 * use the library to send a message: it lets DATA out before RCPT is answered, sends to the accepted when others were
 * refused, rewrites addresses, and does not tell a loss before the final dot from a loss after it.
 */
export class LibraryConnection extends Base {
  #receiver: Receiver | null = null;

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
