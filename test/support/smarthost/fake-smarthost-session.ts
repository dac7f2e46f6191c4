import { createHmac } from 'node:crypto';
import type net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import tls from 'node:tls';
import type { FakeSmarthost } from './fake-smarthost.js';
import {
  type Act,
  type Cue,
  type Script,
  type SessionRecord,
  type SmarthostSettings,
  say,
} from './smarthost-script.js';

/** Long enough that two pieces are two packets and two turns of the client's loop. */
const BETWEEN_PIECES_MS = 5;
const FINAL_DOT = '\r\n.\r\n';

interface Transaction {
  readonly from: string;
  readonly mailParameters: string;
  readonly recipients: string[];
}

/** One connection of a fake smarthost. It reads lines one by one and answers each before it looks at the next. */
export class FakeSmarthostSession {
  onChange: () => void = () => {};
  readonly #smarthost: FakeSmarthost;
  readonly #record: SessionRecord;
  readonly #number: number;
  /** The connection itself, beneath TLS. */
  readonly #plain: net.Socket;
  #socket: net.Socket;
  #input = Buffer.alloc(0);
  #wake: () => void = () => {};
  #isOver = false;
  #isTls = false;
  #user: string | null = null;
  #transaction: Transaction | null = null;
  #cue: Cue;

  constructor(smarthost: FakeSmarthost, socket: net.Socket, record: SessionRecord, number: number) {
    this.#smarthost = smarthost;
    this.#plain = socket;
    this.#socket = socket;
    this.#record = record;
    this.#number = number;
    this.#cue = { session: number, transaction: 0, recipient: 0, line: '' };
    socket.on('error', () => {});
    socket.on('close', () => this.#end());
    this.#listen(socket);
  }

  async run(): Promise<void> {
    if (this.#smarthost.settings.security === 'implicit') await this.#secure();
    await this.#act('greeting', say('220 fake.example ESMTP'));
    while (!this.#isOver) {
      const line = await this.#line();
      if (line !== null) await this.#command(line);
    }
  }

  /** Ends the connection, or turns deaf. */
  end(ending: Act['ending']): void {
    if (ending === 'go on') return;
    this.#end();
    if (ending === 'drop') this.#socket.end(() => this.#plain.destroy());
    if (ending === 'reset') {
      // A socket that is reset beneath its TLS never goes away (Node 20).
      if (this.#socket === this.#plain) this.#plain.resetAndDestroy();
      else this.#socket.destroy();
    }
    if (ending === 'stall') this.#plain.pause();
  }

  async #command(line: string): Promise<void> {
    this.#record.lines.push(line);
    if (this.#input.length > 0) this.#record.hasPipelined = true;
    this.#cue = { ...this.#cue, line };
    this.onChange();
    const [verb = ''] = line.toUpperCase().split(/[ :]/);
    switch (verb) {
      case 'EHLO':
        return void (await this.#act('ehlo', say(...this.#ehloLines())));
      case 'HELO':
        return void (await this.#act('ehlo', say('250 fake.example')));
      case 'STARTTLS':
        if (await this.#act('starttls', say('220 2.0.0 Ready'))) await this.#secure();
        return;
      case 'AUTH':
        return this.#authenticate(line);
      case 'MAIL':
        return this.#mail(line);
      case 'RCPT':
        return this.#rcpt(line);
      case 'DATA':
        if (await this.#act('data', say('354 Go on'), 354)) await this.#content();
        return;
      case 'RSET':
        this.#transaction = null;
        return void (await this.#act('rset', say('250 2.0.0 OK')));
      case 'QUIT':
        return void (await this.#act('quit', { ...say('221 2.0.0 Bye'), ending: 'drop' }));
      default:
        await this.perform(say('500 5.5.2 Unknown command'));
    }
  }

  #ehloLines(): string[] {
    const { security, login, size = 10_000_000, mechanisms = ['PLAIN', 'LOGIN'] } = this.#smarthost.settings;
    const offers = [
      'fake.example',
      'PIPELINING',
      '8BITMIME',
      'SMTPUTF8',
      'DSN',
      'CHUNKING',
      'ENHANCEDSTATUSCODES',
    ];
    if (size !== null) offers.push(`SIZE ${size}`);
    if (security === 'starttls' && !this.#isTls) offers.push('STARTTLS');
    if (login !== undefined && (security === undefined || this.#isTls))
      offers.push(`AUTH ${mechanisms.join(' ')}`);
    return offers.map((offer, at) => `250${at < offers.length - 1 ? '-' : ' '}${offer}`);
  }

  async #secure(): Promise<void> {
    const { handshake } = this.#smarthost.script;
    const act = typeof handshake === 'function' ? handshake(this.#cue) : handshake;
    if (act !== undefined && act !== null) {
      // Behind what the client begins with: earlier it would be plain text of the session before.
      if (this.#input.length === 0) await this.#more();
      return void (await this.perform(act));
    }
    this.#plain.removeAllListeners('data');
    try {
      this.#socket = await serverHandshake(this.#plain, this.#smarthost.settings);
      this.#isTls = true;
      this.#listen(this.#socket);
    } catch {
      this.#end();
    }
  }

  async #authenticate(line: string): Promise<void> {
    const { login } = this.#smarthost.settings;
    const [, mechanism = '', initial] = line.split(' ');
    const ask = async (challenge: string): Promise<string> => {
      await this.perform(say(`334 ${Buffer.from(challenge).toString('base64')}`));
      const answer = (await this.#line()) ?? '';
      this.#record.lines.push(answer);
      return Buffer.from(answer, 'base64').toString();
    };
    let user = '';
    let isRight = false;
    if (mechanism.toUpperCase() === 'PLAIN') {
      const [, name = '', password] = Buffer.from(initial ?? '', 'base64')
        .toString()
        .split('\0');
      user = name;
      isRight = password === login?.password;
    } else if (mechanism.toUpperCase() === 'LOGIN') {
      user = await ask('Username:');
      isRight = (await ask('Password:')) === login?.password;
    } else {
      const challenge = '<1.2@fake.example>';
      const [name = '', digest] = (await ask(challenge)).split(' ');
      user = name;
      isRight =
        digest ===
        createHmac('md5', login?.password ?? '')
          .update(challenge)
          .digest('hex');
    }
    if (isRight && user === login?.user) {
      if (await this.#act('auth', say('235 2.7.0 Welcome'))) this.#user = user;
    } else await this.#act('auth', say('535 5.7.8 Wrong user or password'));
  }

  async #mail(line: string): Promise<void> {
    this.#cue = { ...this.#cue, transaction: this.#cue.transaction + 1, recipient: 0 };
    const [, from = '', mailParameters = ''] = /^MAIL FROM:<([^>]*)>(.*)$/.exec(line) ?? [];
    const isWelcome = this.#smarthost.settings.login === undefined || this.#user !== null;
    const good = isWelcome ? say('250 2.1.0 OK') : say('530 5.7.0 Authentication required');
    if (await this.#act('mail', good)) this.#transaction = { from, mailParameters, recipients: [] };
  }

  async #rcpt(line: string): Promise<void> {
    this.#cue = { ...this.#cue, recipient: this.#cue.recipient + 1 };
    const [, recipient = ''] = /^RCPT TO:<([^>]*)>$/.exec(line) ?? [];
    if (await this.#act('rcpt', say('250 2.1.5 OK'))) this.#transaction?.recipients.push(recipient);
  }

  async #content(): Promise<void> {
    const { content } = this.#smarthost.script;
    const transaction = this.#transaction;
    this.#transaction = null;
    let hasActed = false;
    // The line end of DATA stands before the first dot there can be.
    let end = -1;
    while (end < 0 && !this.#isOver) {
      this.#record.contentBytes = this.#input.length;
      this.onChange();
      if (content !== undefined && !hasActed && this.#input.length >= content.afterBytes) {
        hasActed = true;
        const act = typeof content.step === 'function' ? content.step(this.#cue) : content.step;
        if (act !== null) await this.perform(act);
        continue;
      }
      end = this.#input.subarray(0, 3).equals(Buffer.from('.\r\n')) ? 3 : this.#endOfData();
      if (end < 0) await this.#more();
    }
    if (end < 0 || transaction === null) return;
    const wire = this.#input.subarray(0, end);
    this.#input = this.#input.subarray(end);
    this.#smarthost.submissions.push({
      ...transaction,
      session: this.#number,
      isTls: this.#isTls,
      user: this.#user,
      wire,
      content: unstuffed(wire),
    });
    this.onChange();
    await this.#act('dot', say(`250 2.0.0 OK queued as ${this.#smarthost.submissions.length}`));
  }

  #endOfData(): number {
    const at = this.#input.indexOf(FINAL_DOT);
    return at < 0 ? -1 : at + FINAL_DOT.length;
  }

  /** Does what the script says of a step, or what a good server does; true when the answer was a good one. */
  async #act(name: Exclude<keyof Script, 'content'>, good: Act, wanted = 200): Promise<boolean> {
    const step = this.#smarthost.script[name];
    const act = (typeof step === 'function' ? step(this.#cue) : step) ?? good;
    await this.perform(act);
    const code = Number.parseInt(act.pieces.join(''), 10);
    return !this.#isOver && (wanted === 354 ? code === 354 : code >= 200 && code < 300);
  }

  /** Whatever the dialogue is at. */
  async perform({ pieces, ending, after }: Act): Promise<void> {
    if (after !== undefined) await after;
    if (this.#isOver) return;
    for (const [at, piece] of pieces.entries()) {
      if (at > 0) await delay(BETWEEN_PIECES_MS);
      if (this.#socket.writable) this.#socket.write(piece);
    }
    this.end(ending);
  }

  #listen(socket: net.Socket): void {
    socket.on('data', (chunk: Buffer) => {
      this.#input = Buffer.concat([this.#input, chunk]);
      this.#wake();
    });
    socket.on('end', () => this.#wake());
  }

  #end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async #more(): Promise<void> {
    if (this.#isOver) return;
    await new Promise<void>(resolve => {
      this.#wake = resolve;
    });
  }

  /** The next line, or null when the connection is over. */
  async #line(): Promise<string | null> {
    for (;;) {
      if (this.#isOver) return null;
      const at = this.#input.indexOf('\r\n');
      if (at >= 0) {
        const line = this.#input.subarray(0, at).toString('latin1');
        this.#input = this.#input.subarray(at + 2);
        return line;
      }
      await this.#more();
    }
  }
}

/** RFC 5321 section 4.5.2, read back: the final dot goes, and a dot that begins a line. */
function unstuffed(wire: Buffer): Buffer {
  const lines = wire.subarray(0, -3).toString('latin1').split('\r\n');
  return Buffer.from(lines.map(line => line.replace(/^\./, '')).join('\r\n'), 'latin1');
}

/** The server's side of a TLS handshake on a socket. */
async function serverHandshake(socket: net.Socket, settings: SmarthostSettings): Promise<tls.TLSSocket> {
  if (settings.identity === undefined) throw new Error('a fake smarthost with TLS needs an identity');
  const secure = new tls.TLSSocket(socket, { isServer: true, ...settings.identity });
  secure.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    secure.once('secure', resolve);
    secure.once('close', () => reject(new Error('the handshake failed')));
  });
  return secure;
}
