import type net from 'node:net';
import type { ClientNetworks } from '../domain/addresses.js';
import type { SmtpListenerOptions } from './options.js';
import { WalkedOut } from './recipient-guesses.js';
import type { ListenerClock } from './session-timers.js';

/*
 * Who gets a place, and who gives way.
 *
 * A listener has `maxClients` places, and one address (an IPv4 address, an IPv6 /64) may hold `maxClientsPerAddress` of
 * them. While no more than four fifths of all places are taken, nothing else is asked: the biggest senders come from one
 * network, and there is room for them. From then on nobody may keep the others out, and there are shares:
 *
 * - A site (an IPv4 /24, an IPv6 /48) that holds a quarter of all places gets another one only for one of its own.
 * - The last twentieth of all places is kept for those who hold none: an IPv4 address, or an IPv6 /48, as a site has more
 *   /64s than we have places. Others are lent these places while they are free. So an ordinary sender gets in at once,
 *   even while others fill the house.
 * - Whoever finds no free place gets that of the session that is furthest behind its pace (`Pace` in
 *   `session-timers.ts`), whatever it is doing: handshake, commands, a message. What counts is mail: a KiB a second, or an
 *   accepted message now and then. Nobody has to give way before he has been slow for ten seconds between messages, or
 *   for thirty within one; nor for time in which he waited for us.
 * - If nobody is that slow, one who holds none gets a place that was lent: if possible, that of a session which is not
 *   receiving a message. Others are refused and come again.
 *
 * A session to whose final dot the reply is due never has to give way.
 *
 * Who gives way and who is refused for a share reads 421 4.3.2. A message that was being received is discarded; its
 * sender keeps it and tries again (RFC 5321 section 3.8).
 */

/** Shares of `maxClients`. */
const CROWDED = 0.8;
const SITE_SHARE = 0.25;
const KEPT = 0.05;

type Limits = Pick<SmtpListenerOptions, 'maxClients' | 'maxClientsPerAddress'>;

export type Admission = Place | 'too_many_clients' | 'too_many_from_address';

/** A place of one's own, or one that is kept for those who hold none and lent to others. */
export type Place = 'own' | 'lent';

/** What a session is asked to find out who gives way. */
export interface Guest {
  readonly client: ClientNetworks;
  /** `answering`: the client has sent all or some of a message and waits for us. */
  readonly doing: 'commands' | 'receiving' | 'answering';
  /** When the delayed answer to an unknown recipient is due, even if the client has gone; null without one. */
  readonly answerDueAtMs: number | null;
  /** How far it is behind its pace, in milliseconds; 0 if it may keep its place. */
  arrearsMs(): number;
  /** Tells the client to come again, and hangs up. */
  giveUpPlace(): void;
}

/** The connections of all ports of a listener. */
export class OpenClients<Session extends Guest> {
  readonly #shares: Shares;
  readonly #clock: ListenerClock;
  readonly #placed = new Set<Session>();
  /** Those of them whose place was lent, the first to borrow first. */
  readonly #borrowers = new Set<Session>();
  readonly #sessions = new Set<Session>();
  /** Sockets of refused clients, which are being sent the reason and closed. */
  readonly turnedAway = new Set<net.Socket>();

  constructor(limits: Limits, clock: ListenerClock) {
    this.#shares = new Shares(limits);
    this.#clock = clock;
  }

  /** Open sessions, including those that are being closed. */
  get sessions(): ReadonlySet<Session> {
    return this.#sessions;
  }

  /** Admits or refuses a client. If it is admitted, with a place, it is counted, and `open` must follow. */
  admit(client: ClientNetworks): Admission {
    const claim = this.#shares.claim(client, this.#clock.nowMs());
    if (claim === 'too_many_from_address') return claim;
    if (claim !== 'own' && claim !== 'lent') {
      const leaver =
        this.#slowest(claim === 'exchange_in_site' ? client.site : null) ?? this.#borrower(claim);
      if (leaver === null) return 'too_many_clients';
      this.#leave(leaver);
      leaver.giveUpPlace();
    }
    this.#shares.take(client);
    return claim === 'lent' ? 'lent' : 'own';
  }

  open(session: Session, place: Place): void {
    this.#placed.add(session);
    if (place === 'lent') this.#borrowers.add(session);
    this.#sessions.add(session);
  }

  closed(session: Session): void {
    this.#sessions.delete(session);
    this.#leave(session);
    if (session.answerDueAtMs !== null) this.#shares.walkedOut(session.client, session.answerDueAtMs);
  }

  #leave(session: Session): void {
    if (!this.#placed.delete(session)) return;
    this.#borrowers.delete(session);
    this.#shares.release(session.client);
    // As many as are not needed for those who hold none become the borrowers' own.
    for (const borrower of this.#borrowers) {
      if (this.#borrowers.size <= this.#shares.mayBeLent) return;
      this.#borrowers.delete(borrower);
    }
  }

  /** @param site null: of whatever site */
  #slowest(site: string | null): Session | null {
    let mostMs = 0;
    let slowest: Session | null = null;
    for (const session of this.#placed) {
      if (site !== null && session.client.site !== site) continue;
      const arrearsMs = session.arrearsMs();
      if (arrearsMs <= mostMs) continue;
      mostMs = arrearsMs;
      slowest = session;
    }
    return slowest;
  }

  #borrower(claim: Claim): Session | null {
    if (claim !== 'exchange_or_lent') return null;
    let receiver: Session | null = null;
    for (const session of this.#borrowers) {
      if (session.doing === 'commands') return session;
      if (session.doing === 'receiving') receiver ??= session;
    }
    return receiver;
  }
}

/**
 * What a client may get: a free place, or one in exchange for that of a slow session: of whatever site, of its own site,
 * or else for one that was lent.
 */
export type Claim = Place | 'exchange' | 'exchange_in_site' | 'exchange_or_lent' | 'too_many_from_address';

/** Counts places by client and says who has a claim to another one. */
export class Shares {
  readonly #maxClients: number;
  readonly #maxPerAddress: number;
  readonly #maxPerSite: number;
  readonly #hosts = new Tally();
  readonly #sites = new Tally();
  readonly #walkedOut = new WalkedOut();
  #total = 0;

  constructor({ maxClients, maxClientsPerAddress }: Limits) {
    this.#maxClients = maxClients;
    this.#maxPerAddress = maxClientsPerAddress;
    // Whoever lets one address have more, such as a relay of his own, means it.
    this.#maxPerSite = Math.max(maxClients * SITE_SHARE, maxClientsPerAddress);
  }

  get total(): number {
    return this.#total;
  }

  /** Of the places that are kept for those who hold none, as many as are taken; below 0, more are free than are kept. */
  get mayBeLent(): number {
    return Math.floor(this.#maxClients * KEPT) - (this.#maxClients - this.#total);
  }

  claim({ host, site }: ClientNetworks, nowMs: number): Claim {
    const ofHost = this.#hosts.of(host);
    const ofSite = this.#sites.of(site);
    if (
      ofHost + this.#walkedOut.of(host, nowMs) >= this.#maxPerAddress ||
      this.#walkedOut.of(site, nowMs) >= this.#maxPerSite
    ) {
      return 'too_many_from_address';
    }
    const free = this.#maxClients - this.#total;
    if (free > 0 && this.#total <= this.#maxClients * CROWDED) return 'own';
    if (ofSite >= this.#maxPerSite) return 'exchange_in_site';
    const holdsNone = (host.includes(':') ? ofSite : ofHost) === 0;
    if (free === 0) return holdsNone ? 'exchange_or_lent' : 'exchange';
    return holdsNone || this.mayBeLent < 0 ? 'own' : 'lent';
  }

  /** Counts a client in; `release` must follow once. */
  take({ host, site }: ClientNetworks): void {
    this.#hosts.add(host, 1);
    this.#sites.add(site, 1);
    this.#total += 1;
  }

  release({ host, site }: ClientNetworks): void {
    this.#hosts.add(host, -1);
    this.#sites.add(site, -1);
    this.#total -= 1;
  }

  /** The session of a client has ended while an answer to an unknown recipient was due (`WalkedOut`). */
  walkedOut({ host, site }: ClientNetworks, dueAtMs: number): void {
    this.#walkedOut.add(host, dueAtMs);
    if (site !== host) this.#walkedOut.add(site, dueAtMs);
  }
}

/** Counts by key. */
class Tally {
  readonly #counts = new Map<string, number>();

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: string, change: 1 | -1): void {
    const count = this.of(key) + change;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }
}
