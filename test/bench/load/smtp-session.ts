import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A sender's connection that is used for one message after the other. */
export class SmtpSession {
  readonly #socket: Socket;
  #buffered = '';
  #waiting: { wake: () => void; reject: (error: Error) => void } | null = null;
  readonly #replies: string[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', bytes => this.#read(bytes.toString('latin1')));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#waiting?.reject(new Error('the server hung up')));
  }

  static async open(port: number, address = '127.0.0.1'): Promise<SmtpSession> {
    const socket = connect(port, address);
    const session = new SmtpSession(socket);
    await session.#expect(220);
    await session.#command('EHLO load.test', 250);
    return session;
  }

  /** One transaction; milliseconds from MAIL to the reply to the final dot. `wire` is already dot-stuffed. */
  async send(recipient: string, wire: Buffer): Promise<number> {
    const startedAt = performance.now();
    await this.#transact(recipient, wire);
    return performance.now() - startedAt;
  }

  /** The same; the id under which Postern keeps the message. */
  async deliver(recipient: string, wire: Buffer): Promise<string> {
    const reply = await this.#transact(recipient, wire);
    return reply.slice(reply.lastIndexOf(' ') + 1);
  }

  async close(): Promise<void> {
    const closed = once(this.#socket, 'close');
    this.#socket.end('QUIT\r\n');
    await closed;
  }

  async #transact(recipient: string, wire: Buffer): Promise<string> {
    await this.#command('MAIL FROM:<sender@load.test>', 250);
    await this.#command(`RCPT TO:<${recipient}>`, 250);
    await this.#command('DATA', 354);
    this.#socket.write(wire);
    return this.#expect(250);
  }

  #command(line: string, code: number): Promise<string> {
    this.#socket.write(`${line}\r\n`);
    return this.#expect(code);
  }

  async #expect(code: number): Promise<string> {
    const reply = this.#replies.shift() ?? (await this.#nextReply());
    if (!reply.startsWith(`${code}`)) throw new Error(`wanted ${code}, got ${reply}`);
    return reply;
  }

  #nextReply(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#waiting = { wake: () => resolve(this.#replies.shift() ?? ''), reject };
    });
  }

  #read(text: string): void {
    this.#buffered += text;
    const lines = this.#buffered.split('\r\n');
    this.#buffered = lines.pop() ?? '';
    for (const line of lines) if (!/^\d{3}-/.test(line)) this.#replies.push(line);
    if (this.#replies.length === 0 || this.#waiting === null) return;
    const { wake } = this.#waiting;
    this.#waiting = null;
    wake();
  }
}
