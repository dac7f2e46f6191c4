import { EventEmitter, once } from 'node:events';
import net from 'node:net';
import type { Test } from 'tap';
import { FakeSmarthostSession } from './fake-smarthost-session.js';
import type { Act, Script, SessionRecord, SmarthostSettings, Submission } from './smarthost-script.js';

/**
 * A submission server on a raw socket that keeps a record of everything, and that can be told to misbehave at
 * any step (`smarthost-script.ts`). Without a script it is a good server: it offers every extension that a
 * client might be tempted by, and takes everything.
 *
 *     const smarthost = await startFakeSmarthost({ rcpt: say('550 5.1.1 No such user') });
 *     ... send to 127.0.0.1, smarthost.port ...
 *     smarthost.submissions;      // envelope and bytes of every message whose final dot came
 *     smarthost.script = {};      // good again, from the next step on
 *     await smarthost.stop();
 *
 * or `withFakeSmarthost(t, ...)`, which is stopped after the test.
 */
export class FakeSmarthost {
  script: Script;
  readonly settings: SmarthostSettings;
  readonly submissions: Submission[] = [];
  /** Every connection so far. */
  readonly sessions: SessionRecord[] = [];
  readonly #server: net.Server;
  readonly #live = new Set<FakeSmarthostSession>();
  readonly #events = new EventEmitter();

  constructor(script: Script, settings: SmarthostSettings) {
    this.script = script;
    this.settings = settings;
    this.#events.setMaxListeners(0);
    this.#server = net.createServer({ noDelay: true }, socket => this.#serve(socket));
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#live.size;
  }

  async start(port = this.settings.port ?? 0): Promise<void> {
    this.#server.listen(port, this.settings.address ?? '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Resolves when this holds; looked at whenever a connection, a line, content or the end of a connection came. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await once(this.#events, 'change');
  }

  /** Does this on every open connection, though nobody asked for it. */
  async perform(act: Act): Promise<void> {
    await Promise.all([...this.#live].map(session => session.perform(act)));
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const session of this.#live) session.end('reset');
    await closed;
  }

  #serve(socket: net.Socket): void {
    const clientAddress = socket.remoteAddress ?? '';
    const record: SessionRecord = {
      lines: [],
      hasPipelined: false,
      contentBytes: 0,
      isOpen: true,
      clientAddress,
    };
    const number = this.sessions.push(record);
    const session = new FakeSmarthostSession(this, socket, record, number);
    this.#live.add(session);
    session.onChange = () => this.#events.emit('change');
    socket.on('close', () => {
      record.isOpen = false;
      this.#live.delete(session);
      this.#events.emit('change');
    });
    this.#events.emit('change');
    void session.run();
  }
}

export async function startFakeSmarthost(
  script: Script = {},
  settings: SmarthostSettings = {},
): Promise<FakeSmarthost> {
  const smarthost = new FakeSmarthost(script, settings);
  await smarthost.start();
  return smarthost;
}

export async function withFakeSmarthost(
  t: Test,
  script: Script = {},
  settings: SmarthostSettings = {},
): Promise<FakeSmarthost> {
  const smarthost = await startFakeSmarthost(script, settings);
  t.teardown(() => smarthost.stop());
  return smarthost;
}
