import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';

/** One whole reply of the server (RFC 5321 section 4.2), a multi-line one included. */
export interface SmtpReply {
  readonly code: number;
  /** The enhanced status code (RFC 2034) of the last line, or null. */
  readonly enhanced: string | null;
  /** Every line as received, without CRLF. */
  readonly lines: readonly string[];
  /** The lines joined by LF. */
  readonly text: string;
}

/** Thrown by `expect` and what builds on it when the server says something else. */
export class UnexpectedReply extends Error {
  constructor(
    readonly wanted: string,
    /** What came instead; null when the server closed the connection. */
    readonly reply: SmtpReply | null,
  ) {
    super(`wanted ${wanted}, got ${reply === null ? 'a closed connection' : JSON.stringify(reply.text)}`);
  }
}

/**
 * An SMTP dialogue, step by step, for tests.
 *
 *     const client = await SmtpClient.connect(port);      // the greeting is still unread
 *     await client.expect(220);
 *     await client.command('EHLO client.example', 250);   // a line, then its reply
 *     client.write('MAIL FROM:<a@b.example>\r\nRCPT TO');  // raw bytes, as they stand
 *     await client.close();                               // or client.reset() for a RST
 *
 * or in short:
 *
 *     const client = await SmtpClient.ready(port);        // greeting and EHLO are done
 *     await client.sendMail('a@b.example', ['agent@example.org'], raw);   // the reply after the dot
 *
 * Nothing here waits for a time: replies and the end of the connection are events.
 */
export class SmtpClient {
  #socket: net.Socket;
  #buffered = '';
  #partial: string[] = [];
  readonly #replies: SmtpReply[] = [];
  readonly #waiting: (() => void)[] = [];
  #isClosed = false;

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    this.#attach(socket);
  }

  /** Connects; `options` may carry `localAddress` and the like. */
  static async connect(
    port: number,
    host = '127.0.0.1',
    options: Partial<net.TcpNetConnectOpts> = {},
  ): Promise<SmtpClient> {
    const socket = net.connect({ ...options, port, host });
    const client = new SmtpClient(socket);
    await once(socket, 'connect');
    socket.setNoDelay(true);
    return client;
  }

  /** Connects, takes the greeting and says EHLO. */
  static async ready(port: number, host = '127.0.0.1'): Promise<SmtpClient> {
    const client = await SmtpClient.connect(port, host);
    await client.expect(220);
    await client.command('EHLO client.example', 250);
    return client;
  }

  /** The socket, for what this class has no word for (pausing, half-closing). */
  get socket(): net.Socket {
    return this.#socket;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Replies that arrived and were not asked for yet. */
  get unread(): number {
    return this.#replies.length;
  }

  /** Sends bytes or text as they stand. Resolves when the socket took them; a dead socket is no error. */
  async write(bytes: Uint8Array | string): Promise<void> {
    if (this.#isClosed || this.#socket.destroyed) return;
    await new Promise<void>(resolve => {
      this.#socket.write(bytes, () => resolve());
    });
  }

  /** Sends one command line. */
  async line(text: string): Promise<void> {
    await this.write(`${text}\r\n`);
  }

  /** The next reply, or null once the server has closed the connection and nothing is left to read. */
  async reply(): Promise<SmtpReply | null> {
    while (this.#replies.length === 0 && !this.#isClosed) await this.#change();
    return this.#replies.shift() ?? null;
  }

  /** The next reply, which must have one of these codes (`4` and `5` stand for the whole class). */
  async expect(...codes: number[]): Promise<SmtpReply> {
    const reply = await this.reply();
    const isWanted =
      reply !== null && codes.some(code => reply.code === code || Math.floor(reply.code / 100) === code);
    if (!isWanted || reply === null) throw new UnexpectedReply(codes.join(' or '), reply);
    return reply;
  }

  /** Sends a line and takes its reply, which must have one of these codes when any are given. */
  async command(text: string, ...codes: number[]): Promise<SmtpReply> {
    await this.line(text);
    return codes.length > 0 ? this.expect(...codes) : this.expect(2, 3, 4, 5);
  }

  /** MAIL, a RCPT for each recipient, and DATA up to its 354. */
  async openData(from: string, recipients: readonly string[], mailParameters = ''): Promise<void> {
    await this.command(`MAIL FROM:<${from}>${mailParameters}`, 250);
    for (const recipient of recipients) await this.command(`RCPT TO:<${recipient}>`, 250, 251);
    await this.command('DATA', 354);
  }

  /**
   * A whole transaction: `raw` is the message before dot-stuffing (RFC 5321 section 4.5.2); a final CRLF
   * is added where it is missing. Returns the reply that follows the final dot, whatever its code.
   */
  async sendMail(
    from: string,
    recipients: readonly string[],
    raw: Uint8Array | string,
    mailParameters = '',
  ): Promise<SmtpReply> {
    await this.openData(from, recipients, mailParameters);
    await this.write(stuff(raw));
    return this.expect(2, 3, 4, 5);
  }

  /** STARTTLS and the handshake; the certificate is not checked. The client says EHLO again itself. */
  async startTls(options: tls.ConnectionOptions = {}): Promise<void> {
    await this.command('STARTTLS', 220);
    await this.handshake(options);
  }

  /** The TLS handshake alone, once STARTTLS has been answered with 220. */
  async handshake(options: tls.ConnectionOptions = {}): Promise<void> {
    const plain = this.#socket;
    for (const event of ['data', 'close', 'end', 'error']) plain.removeAllListeners(event);
    plain.on('error', () => {});
    const secure = tls.connect({ socket: plain, rejectUnauthorized: false, ...options });
    await once(secure, 'secureConnect');
    this.#socket = secure;
    this.#attach(secure);
  }

  /** Resolves when the server has closed the connection (or it was closed here). */
  async closed(): Promise<void> {
    while (!this.#isClosed) await this.#change();
  }

  /** QUIT without waiting for its reply, then the end of the connection. */
  async close(): Promise<void> {
    if (!this.#isClosed) this.#socket.end('QUIT\r\n');
    await this.closed();
  }

  /** Ends the connection with a RST, as a client that crashed. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** Ends the connection with a FIN in the middle of whatever it was. */
  destroy(): void {
    this.#socket.destroy();
  }

  #attach(socket: net.Socket): void {
    socket.on('data', bytes => this.#read(bytes.toString('latin1')));
    socket.on('error', () => {});
    const end = () => {
      if (socket !== this.#socket) return;
      this.#isClosed = true;
      socket.destroy();
      this.#wake();
    };
    socket.on('end', end);
    socket.on('close', end);
  }

  #read(text: string): void {
    this.#buffered += text;
    for (let at = this.#buffered.indexOf('\r\n'); at >= 0; at = this.#buffered.indexOf('\r\n')) {
      const line = this.#buffered.slice(0, at);
      this.#buffered = this.#buffered.slice(at + 2);
      this.#partial.push(line);
      if (/^\d{3}-/.test(line)) continue;
      const enhanced = /^\d{3} ([245]\.\d{1,3}\.\d{1,3}) /.exec(line)?.[1] ?? null;
      const lines = this.#partial;
      this.#partial = [];
      this.#replies.push({ code: Number(line.slice(0, 3)), enhanced, lines, text: lines.join('\n') });
      this.#wake();
    }
  }

  #change(): Promise<void> {
    return new Promise(resolve => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** The bytes of a message as they go over the wire: dot-stuffed, with the line that ends DATA. */
export function stuff(raw: Uint8Array | string): Buffer {
  const text =
    typeof raw === 'string' ? Buffer.from(raw).toString('latin1') : Buffer.from(raw).toString('latin1');
  const ended = text === '' || text.endsWith('\r\n') ? text : `${text}\r\n`;
  return Buffer.from(`${ended.replace(/(^|\r\n)\./g, '$1..')}.\r\n`, 'latin1');
}
