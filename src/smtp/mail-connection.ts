import type net from 'node:net';
import type tls from 'node:tls';
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js';
import type { SMTPServer } from 'smtp-server/lib/smtp-server.js';
import type { ClientNetworks } from '../domain/addresses.js';
import type { InboundMail, Logger } from '../usecases/ports.js';
import type { Guest } from './connection-limits.js';
import { MailStream } from './data-scanner.js';
import { MailTransaction } from './mail-transaction.js';
import { type IntakeRefusal, MessageIntake, type Verdict } from './message-intake.js';
import type { RefusalReason, SmtpCounters, SmtpListenerOptions } from './options.js';
import { type GuessBrake, Tarpit } from './recipient-guesses.js';
import { renderReply, replies, type SmtpReply } from './replies.js';
import { type ListenerClock, limitLinger, SessionTime } from './session-timers.js';

/** Longer command lines are refused. RFC 5321 section 4.5.3.1.4 asks for at least 512, extensions for more. */
const MAX_COMMAND_OCTETS = 2048;

/** What all sessions of a listener share. */
export interface SessionContext {
  readonly options: SmtpListenerOptions;
  readonly inbound: InboundMail;
  readonly counters: SmtpCounters;
  readonly clock: ListenerClock;
  readonly brake: GuessBrake;
  readonly log: Logger;
  /** A short name for a new session, for the log. */
  nextSessionId(): string;
}

/** The client of a session and what is to follow when it has gone. */
export interface Visit {
  readonly client: ClientNetworks;
  readonly onClosed: (connection: MailConnection) => void;
}

type Done = () => void;

/**
 * One session. The library handles the connection, the order of commands, EHLO and STARTTLS. We handle the mail
 * transaction (MAIL, RCPT, DATA), the way of the message into the store, and the end of a session.
 */
export class MailConnection extends SMTPConnection implements Guest {
  readonly client: ClientNetworks;
  readonly #context: SessionContext;
  readonly #onClosed: (connection: MailConnection) => void;
  readonly #openedAtMs: number;
  readonly #time: SessionTime;
  #helo = '';
  readonly #transaction: MailTransaction;
  readonly #tarpit: Tarpit;
  /** From 354 to the reply to the final dot. */
  #intake: MessageIntake | null = null;
  /** The socket of a TLS handshake in progress, which the library does not expose. */
  #handshake: { readonly socket: net.Socket; readonly startedAtMs: number } | null = null;
  #errors = 0;
  #isLeaving = false;

  constructor(
    server: SMTPServer,
    socket: net.Socket | tls.TLSSocket,
    options: SMTPConnectionOptions,
    context: SessionContext,
    { client, onClosed }: Visit,
  ) {
    super(server, socket, options);
    this.client = client;
    this.#context = context;
    this.#onClosed = onClosed;
    const { options: limits, inbound, clock } = context;
    this.#openedAtMs = clock.nowMs();
    this.#time = new SessionTime(limits, clock);
    this.#tarpit = new Tarpit(context, client);
    this.#transaction = new MailTransaction(limits, inbound, reason => this.#noteRefusal(reason));
  }

  /** Greets at once. Commands that a client sends before the greeting are served as if they were pipelined. */
  override init(): void {
    this._setListeners(() => this.connectionReady());
  }

  /** The library's constructor calls this, so our fields may only be used later, by the callbacks. */
  override _createParser(): MailStream {
    const parser = new MailStream({ maxCommandLength: MAX_COMMAND_OCTETS });
    parser.oncommand = (command, callback) => this._onCommand(command, callback);
    parser.on('error', () => this.hangUp({ reply: replies.lineTooLong, reason: 'bad_commands' }));
    // The client has closed its side, and every command that it sent before has been answered.
    parser.on('finish', () => {
      if (parser === this._parser) this.close();
    });
    return parser;
  }

  /** Called with the new socket when a TLS handshake begins. */
  override _armTimeout(socket: net.Socket = this._socket): void {
    super._armTimeout(socket);
    if (socket === this._socket) return;
    this.#handshake = { socket, startedAtMs: this.#context.clock.nowMs() };
    socket.once('end', () => {
      if (this._upgrading) socket.destroy();
    });
  }

  arrearsMs(): number {
    const { doing } = this;
    const arrearsMs = this.#time.arrearsMs(doing !== 'commands');
    return doing === 'answering' ? 0 : arrearsMs;
  }

  get doing(): Guest['doing'] {
    if (this.#intake === null) return 'commands';
    return this._handlerPending ? 'answering' : 'receiving';
  }

  get answerDueAtMs(): number | null {
    return this.#tarpit.dueAtMs;
  }

  override handler_EHLO(command: Buffer, done: Done): void {
    super.handler_EHLO(command, done);
    this.#rememberHelo(command);
  }

  override handler_HELO(command: Buffer, done: Done): void {
    super.handler_HELO(command, done);
    this.#rememberHelo(command);
  }

  override _resetSession(): void {
    super._resetSession();
    this.#transaction.reset();
  }

  override handler_MAIL(command: Buffer, done: Done): void {
    this.#reply(this.#transaction.mail(command.toString()));
    done();
  }

  override handler_RCPT(command: Buffer, done: Done): void {
    const reply = this.#transaction.rcpt(command.toString());
    const answer = () => {
      this.#reply(reply);
      done();
    };
    if (reply !== replies.unknownRecipient) answer();
    else if (!this.#tarpit.allows(answer)) {
      this.hangUp({ reply: replies.tooManyUnknown, reason: 'too_many_unknown' });
    }
  }

  override handler_DATA(command: Buffer, done: Done): void {
    const intake = this.#transaction.data(command.toString());
    if (intake instanceof MessageIntake) this.#receive(intake);
    else this.#reply(intake);
    done();
  }

  /** Sends the library's own replies; ours are sent by `#reply`. */
  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    if (code === 421 && !this._closing) this.#noteRefusal('bad_commands');
    // The library sends nothing once the client has closed its side, though the client can still read.
    if (this._socket.readyState === 'writeOnly' && !this._upgrading) {
      const enhanced = this._getEnhancedStatusCode(code, context);
      this._socket.write(renderReply(code, enhanced, data));
    }
    super.send(code, data, context);
    this.#countError(code);
  }

  override _onTimeout(): void {
    // A client that waits for us is not idle: then the library only starts its timer anew.
    if (this._closing || this._handlerPending) super._onTimeout();
    else this.#giveUp({ reply: replies.idleTimeout, reason: 'timeout' });
  }

  override close(): void {
    const wasClosing = this._closing;
    // During a handshake nothing can be sent, and only the TLS socket may be destroyed.
    if (this._upgrading) this.#handshake?.socket.destroy();
    super.close();
    this.#intake?.abort();
    this.#transaction.reset();
    this.#tarpit.release();
    if (wasClosing || this._upgrading || this._socket.destroyed) return;
    clearTimeout(this._closeTimer);
    this._closeTimer = limitLinger(this._socket);
  }

  override _onClose(): void {
    const wasClosed = this._closed;
    super._onClose();
    if (wasClosed) return;
    this.#intake?.abort();
    this.#transaction.reset();
    this.#tarpit.release();
    this.#onClosed(this);
  }

  /** Sends the refusal and closes. A message that is being received is discarded. */
  hangUp(refusal: IntakeRefusal): void {
    if (this._closing || this._closed) return;
    this.#noteRefusal(refusal.reason);
    this.#write(refusal.reply);
    this.close();
  }

  /** Hangs up. If a message is being received, this waits until the final dot has been answered. */
  shutDown(): void {
    if (this.#intake === null) this.hangUp({ reply: replies.shuttingDown, reason: 'shutting_down' });
    else this.#isLeaving = true;
  }

  /** Hangs up at once, even while a message is being received. */
  terminate(): void {
    this.hangUp({ reply: replies.shuttingDown, reason: 'shutting_down' });
    this._socket.destroySoon();
  }

  /** Hangs up, to free the place for a waiting client: at once if it has been told to go, or would not read why. */
  giveUpPlace(): void {
    const isDeaf = this._closing || this._socket.writableNeedDrain;
    this.#giveUp({ reply: replies.placeNeeded, reason: 'too_many_clients' });
    if (isDeaf) this._socket.destroy();
  }

  /** Keeps account of the pace. Hangs up if the handshake, the session or its message has exceeded its time limit. */
  expire(nowMs: number): void {
    this.arrearsMs();
    const { handshakeTimeoutMs, sessionTimeoutMs } = this.#context.options;
    if (this._upgrading) {
      if (nowMs - (this.#handshake?.startedAtMs ?? 0) < handshakeTimeoutMs) return;
      this.hangUp({ reply: replies.idleTimeout, reason: 'timeout' });
    } else if (this.#intake === null) {
      if (nowMs - this.#openedAtMs < sessionTimeoutMs) return;
      this.hangUp({ reply: replies.sessionTimeout, reason: 'timeout' });
    } else if (!this._handlerPending) {
      const refusal = this.#time.overdue(this.#intake.bytes);
      if (refusal !== null) this.#giveUp(refusal);
    }
  }

  #receive(intake: MessageIntake): void {
    const parser = this._parser;
    if (!(parser instanceof MailStream)) throw new Error('a session without its parser');
    this.#intake = intake;
    this.#time.beginMessage();
    parser.receiveData((chunk, goOn, end) => {
      this.#time.earn(chunk.length);
      const step = intake.take(chunk);
      if (step.status === 'end') {
        end(step.rest);
        this.#commit(intake, parser);
      } else if (step.status === 'full') {
        this.#haveItWait();
        void intake.drained().then(() => {
          this.#goOnWithIt();
          this._socket.setTimeout(this.#context.options.idleTimeoutMs);
          goOn();
        });
      } else {
        if (step.status === 'hang_up') this.#giveUp(step.refusal);
        goOn();
      }
    });
    this.#reply(replies.startMail);
  }

  #commit(intake: MessageIntake, parser: MailStream): void {
    const envelope = this.#transaction.close({ clientAddress: this.remoteAddress, helo: this.#helo });
    this.#haveItWait();
    void intake.commit(envelope).then(verdict => {
      this.#goOnWithIt();
      this.#intake = null;
      this.#answer(verdict);
      if (this._closing || this._closed) return;
      if (this.#isLeaving) this.shutDown();
      else this._whenWritable(() => parser.resumeCommands());
    });
  }

  #answer(verdict: Verdict): void {
    const { counters } = this.#context;
    if (verdict.isAccepted) {
      counters.acceptedMessages += 1;
      if (this.secure) counters.acceptedOverTls += 1;
      this.#errors = 0;
      this.#time.messageAccepted();
      this.#context.brake.accepted(this.client, this.#context.clock.nowMs());
      this._unrecognizedCommands = 0;
      this.#reply(verdict.reply);
    } else {
      counters.refusedMessages += 1;
      this.#noteRefusal(verdict.refusal.reason);
      this.#reply(verdict.refusal.reply);
    }
  }

  /** From now on the client waits for us: it is not idle, and time stands still for it. */
  #haveItWait(): void {
    this._handlerPending = true;
    this.#time.stop();
  }

  #goOnWithIt(): void {
    this._handlerPending = false;
    this.#time.goOn();
  }

  /** Hangs up on a client that we are waiting for. A message that it is sending counts as refused. */
  #giveUp(refusal: IntakeRefusal): void {
    if (this.#intake !== null && !this._closing) this.#context.counters.refusedMessages += 1;
    this.hangUp(refusal);
  }

  #noteRefusal(reason: RefusalReason): void {
    const { counters, log } = this.#context;
    counters.refused(reason);
    log.info({ session: this.id, client: this.remoteAddress, reason }, 'smtp refused');
  }

  #reply(reply: SmtpReply): void {
    this.#write(reply);
    this.#countError(reply.code);
  }

  #write(reply: SmtpReply): void {
    // During a TLS handshake a plain-text reply would corrupt the stream of TLS records.
    if (this._upgrading || !this._socket.writable) return;
    this._socket.write(reply.line, 'latin1');
  }

  #countError(code: number): void {
    if (code < 500) return;
    this.#errors += 1;
    if (this.#errors < this.#context.options.maxErrors) return;
    this.hangUp({ reply: replies.tooManyErrors, reason: 'bad_commands' });
  }

  #rememberHelo(command: Buffer): void {
    const name = command.toString().trim().split(/\s+/)[1] ?? '';
    if (this.hostNameAppearsAs === name.toLowerCase()) this.#helo = name;
  }
}
