import type net from 'node:net';
import { type Admission, ClientLimits } from './client-limits.js';
import type { MailConnection } from './mail-connection.js';
import type { SmtpListenerOptions } from './smtp-listener-options.js';

type Limits = Pick<SmtpListenerOptions, 'maxClients' | 'maxClientsPerAddress' | 'keepPlaceMs'>;

/**
 * The connections of a listener, whichever of its ports they came in by.
 *
 * A thousand clients that say nothing must not keep out the one that has mail: at the limit a new client
 * gets the place of the one that has gone longest without a message, NOOPs or not. A client that is
 * sending one, or has just come, keeps its place; if all do, the new one is turned away.
 */
export class OpenClients {
  readonly #limits: ClientLimits;
  readonly #keepPlaceMs: number;
  readonly #places = new Map<MailConnection, string>();
  readonly #sessions = new Set<MailConnection>();
  /** Sockets that no session owns: they are being told why. */
  readonly turnedAway = new Set<net.Socket>();

  constructor({ maxClients, maxClientsPerAddress, keepPlaceMs }: Limits) {
    this.#keepPlaceMs = keepPlaceMs;
    this.#limits = new ClientLimits(maxClients, maxClientsPerAddress);
  }

  /** Open sessions, those that are being closed included. */
  get sessions(): ReadonlySet<MailConnection> {
    return this.#sessions;
  }

  /** Counts a client in; then `open` must follow. */
  admit(address: string): Admission {
    const admission = this.#limits.admit(address);
    if (admission !== 'too_many_clients' || !this.#freePlace()) return admission;
    return this.#limits.admit(address);
  }

  open(session: MailConnection, address: string): void {
    this.#places.set(session, address);
    this.#sessions.add(session);
  }

  closed(session: MailConnection): void {
    this.#leave(session);
    this.#sessions.delete(session);
  }

  #leave(session: MailConnection): void {
    const address = this.#places.get(session);
    if (address === undefined) return;
    this.#places.delete(session);
    this.#limits.release(address);
  }

  #freePlace(): boolean {
    let latestMs = performance.now() - this.#keepPlaceMs;
    let idlest: MailConnection | null = null;
    for (const session of this.#places.keys()) {
      const { withoutMailSinceMs } = session;
      if (withoutMailSinceMs === null || withoutMailSinceMs > latestMs) continue;
      latestMs = withoutMailSinceMs;
      idlest = session;
    }
    if (idlest === null) return false;
    this.#leave(idlest);
    idlest.giveUpPlace();
    return true;
  }
}
