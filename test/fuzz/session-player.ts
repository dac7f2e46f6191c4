import net from 'node:net';
import tls from 'node:tls';
import type { Leaving, Script, Step } from './session-script.js';

/** What the client observed in its session. */
export interface Played {
  /** Ids of the messages that were accepted, as far as the replies were read. */
  readonly acceptedIds: readonly string[];
  /** Was everything read that the server sent? Then nothing but `acceptedIds` was accepted. */
  readonly hasReadAll: boolean;
  /** The server did not end the session in time. */
  readonly hasHung: boolean;
  /** Lines from the server that are not replies. */
  readonly oddLines: readonly string[];
}

/** Longer than every time limit of the daemon under test. */
const HANG_MS = 30_000;
/** How long a client waits for a reply that may never come. */
const LISTEN_MS = 150;

/** Plays a script against the daemon, from an address of its own. */
export async function playSession(port: number, localAddress: string, script: Script): Promise<Played> {
  const client = new Client(net.connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true }));
  await client.change(HANG_MS);
  for (const step of script.steps) {
    if (client.isOver) break;
    await client.take(step);
  }
  const { leaving } = script;
  if (leaving === 'fin') client.finish();
  else if (leaving === 'vanish' || leaving === 'rst') client.tearOff(leaving);
  const startedAtMs = Date.now();
  while (!client.isClosed && Date.now() - startedAtMs < HANG_MS) await client.change(HANG_MS);
  const hasHung = !client.isClosed;
  if (hasHung) client.tearOff('rst');
  return {
    ...client.summary(),
    hasHung,
    hasReadAll: client.hasReadAll(leaving),
  };
}

class Client {
  readonly #raw: net.Socket;
  #socket: net.Socket;
  #heard = '';
  #wake: () => void = () => {};
  #hasTls = false;
  /** The server closed its side in order, so everything that it sent has arrived. */
  sawEnd = false;
  isClosed = false;

  constructor(socket: net.Socket) {
    this.#raw = socket;
    this.#socket = socket;
    socket.once('close', () => {
      this.isClosed = true;
      this.#wake();
    });
    this.#listenTo(socket);
  }

  get isOver(): boolean {
    return this.isClosed || this.sawEnd;
  }

  /** Node's client may drop what arrives while it ends a TLS connection, so after that nothing is certain. */
  hasReadAll(leaving: Leaving): boolean {
    return this.sawEnd && (leaving === 'stay' || (leaving === 'fin' && !this.#hasTls));
  }

  /** Resolves when something was received or has happened, or after a time. */
  change(ms: number): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.isClosed) this.#wake();
    });
  }

  async take(step: Step): Promise<void> {
    if (step.do === 'write') {
      await new Promise<void>(resolve => this.#socket.write(step.bytes, () => resolve()));
    } else if (step.do === 'listen') {
      await this.change(LISTEN_MS);
    } else if (!this.#hasTls && /^220 2[^\n]*\r\n$/m.test(this.#heard.slice(-60))) await this.#shakeHands();
  }

  finish(): void {
    this.#socket.end();
  }

  tearOff(how: 'vanish' | 'rst'): void {
    // Node cannot reset a socket whose writing side has ended.
    if (how === 'rst' && !this.sawEnd) this.#raw.resetAndDestroy();
    else this.#raw.destroy();
  }

  summary(): Pick<Played, 'acceptedIds' | 'oddLines'> {
    const lines = this.#heard.split('\r\n');
    const last = lines.pop() ?? '';
    const isText = !this.#heard.includes('Ready to start TLS');
    return {
      acceptedIds: lines.flatMap(line => /^250 2\.0\.0 OK ([0-9a-f-]{36})$/.exec(line)?.[1] ?? []),
      oddLines: isText
        ? lines.filter(line => !/^\d{3}[ -][\x20-\x7e]*$/.test(line)).concat(last === '' ? [] : [last])
        : [],
    };
  }

  async #shakeHands(): Promise<void> {
    this.#hasTls = true;
    this.#raw.removeAllListeners('data').removeAllListeners('end');
    const secure = tls.connect({ socket: this.#raw, rejectUnauthorized: false });
    this.#socket = secure;
    secure.once('secureConnect', () => this.#wake());
    this.#listenTo(secure);
    await this.change(2000);
  }

  #listenTo(socket: net.Socket): void {
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      this.#heard += bytes.toString('latin1');
      this.#wake();
    });
    socket.on('end', () => {
      this.sawEnd = true;
      socket.end();
      this.#wake();
    });
  }
}
