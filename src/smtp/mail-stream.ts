import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';

type Next = (error?: Error | null) => void;

/**
 * Takes a chunk of what follows DATA; the chunk is given up to it. Calls, at once or later, either `goOn`
 * when the next chunk may come, or `end` with what was sent behind the final dot.
 */
export type DataReceiver = (chunk: Buffer, goOn: () => void, end: (rest: Buffer) => void) => void;

/**
 * The library's parser with its DATA path replaced: commands are read as ever, but between
 * `receiveData` and `resumeCommands` chunks go straight to a receiver, without a stream in between, and
 * node stops reading from the socket for as long as the receiver keeps its answer back.
 */
export class MailStream extends SMTPStream {
  #receiver: DataReceiver | null = null;
  #resume: (() => void) | null = null;

  /** From here on everything is message, the rest of the chunk that held DATA included. */
  receiveData(receiver: DataReceiver): void {
    this.#receiver = receiver;
    this._dataMode = true;
  }

  /** The reply to the final dot has been given: reads on where the message ended. */
  resumeCommands(): void {
    const resume = this.#resume;
    this.#resume = null;
    resume?.();
  }

  /** What stands behind the last CRLF when the client ends its side is no command. */
  override _flushData(): void {}

  /**
   * The error that this becomes is told a tick later, and node hands over what is buffered all the same:
   * the rest of the line would be taken for a command, and those behind it would run.
   */
  override _commandTooLong(): Error {
    this.isClosed = true;
    return super._commandTooLong();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding | 'buffer', next: Next): void {
    const receiver = this.#receiver;
    if (receiver === null || this.isClosed) {
      super._write(chunk, encoding, next);
      return;
    }
    receiver(chunk, next, rest => {
      this.#receiver = null;
      this._dataMode = false;
      this.#resume = () => this._write(rest, 'buffer', next);
    });
  }
}
