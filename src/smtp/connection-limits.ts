import type net from 'node:net';
import { clientNetwork } from '../domain/addresses.js';
import type { MailConnection } from './mail-connection.js';
import type { SmtpListenerOptions } from './options.js';

type Limits = Pick<SmtpListenerOptions, 'maxClients' | 'maxClientsPerAddress' | 'keepPlaceMs'>;

/**
 * The connections of all ports of a listener.
 *
 * A thousand idle clients must not keep out one that has mail. At the limit, a new client gets the place of the client
 * that has gone longest without sending a message; other commands do not count. A client that is sending a message, or
 * has connected less than `keepPlaceMs` ago, keeps its place. If all clients do, the new one is refused.
 */
export class OpenClients {
  readonly #limits: ClientLimits;
  readonly #keepPlaceMs: number;
  readonly #places = new Map<MailConnection, string>();
  readonly #sessions = new Set<MailConnection>();
  /** Sockets of refused clients, which are being sent the reason and closed. */
  readonly turnedAway = new Set<net.Socket>();

  constructor({ maxClients, maxClientsPerAddress, keepPlaceMs }: Limits) {
    this.#keepPlaceMs = keepPlaceMs;
    this.#limits = new ClientLimits(maxClients, maxClientsPerAddress);
  }

  /** Open sessions, including those that are being closed. */
  get sessions(): ReadonlySet<MailConnection> {
    return this.#sessions;
  }

  /** Admits or refuses a client. If it is admitted it is counted, and `open` must follow. */
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

export type Admission = 'admitted' | 'too_many_clients' | 'too_many_from_address';

/** Counts open connections, in total and for each client network, and limits both. */
export class ClientLimits {
  readonly #maxClients: number;
  readonly #maxPerAddress: number;
  readonly #open = new Map<string, number>();
  #total = 0;

  constructor(maxClients: number, maxClientsPerAddress: number) {
    this.#maxClients = maxClients;
    this.#maxPerAddress = maxClientsPerAddress;
  }

  get total(): number {
    return this.#total;
  }

  /** Admits or refuses a client. If it is admitted it is counted, and `release` must follow once. */
  admit(address: string): Admission {
    const network = clientNetwork(address);
    const open = this.#open.get(network) ?? 0;
    if (open >= this.#maxPerAddress) return 'too_many_from_address';
    if (this.#total >= this.#maxClients) return 'too_many_clients';
    this.#open.set(network, open + 1);
    this.#total += 1;
    return 'admitted';
  }

  release(address: string): void {
    const network = clientNetwork(address);
    const open = this.#open.get(network) ?? 0;
    if (open <= 1) this.#open.delete(network);
    else this.#open.set(network, open - 1);
    this.#total -= 1;
  }
}
