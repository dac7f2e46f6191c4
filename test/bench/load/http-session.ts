import { connect, type Socket } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const NOTHING = Buffer.alloc(0);

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** An agent's connection to the API, used for one request after the other: on a plain socket, as `SmtpSession` is. */
export class HttpSession {
  readonly #socket: Socket;
  readonly #credential: string;
  #received: Buffer = NOTHING;
  #waiting: { resolve: (answer: HttpAnswer) => void; reject: (error: Error) => void } | null = null;

  private constructor(socket: Socket, credential: string) {
    this.#socket = socket;
    this.#credential = credential;
    socket.setNoDelay(true);
    socket.on('data', bytes => this.#read(bytes));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#waiting?.reject(new Error('the server hung up')));
  }

  static open(port: number, credential: string): HttpSession {
    return new HttpSession(connect(port, '127.0.0.1'), credential);
  }

  post(path: string, json: string): Promise<HttpAnswer> {
    const head = [
      `POST ${path} HTTP/1.1`,
      'Host: 127.0.0.1',
      `Authorization: Bearer ${this.#credential}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(json)}`,
      '\r\n',
    ];
    this.#socket.write(head.join('\r\n') + json);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.#received.toString('latin1', 0, headEnd);
    const bodyAt = headEnd + HEAD_END.length;
    const end = bodyAt + Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? Number.NaN);
    if (Number.isNaN(end)) throw new Error(`an answer that was not expected: ${head}`);
    if (this.#received.length < end) return;
    const body = this.#received.toString('utf8', bodyAt, end);
    this.#received = this.#received.subarray(end);
    this.#waiting?.resolve({ status: Number(head.slice('HTTP/1.1 '.length, 12)), body });
  }
}
