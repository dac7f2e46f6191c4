import type { DeliveryJob, DeliveryOutcome } from '../../usecases/ports.js';
import type { ServerReply } from '../session/reply.js';
import { SessionFailure } from '../session/session-failure.js';
import { SessionOpening } from '../session/session-opening.js';
import type { Lease, SessionPool } from '../session/session-pool.js';
import type { SmtpSession } from '../session/smtp-session.js';
import {
  canGoOn,
  describePlace,
  isOfClass,
  mayHaveIt,
  type TransactionEnd,
  wasDead,
} from '../session/transaction.js';
import type { DirectOptions } from './options.js';
import {
  type Ending,
  ending,
  endingOfFailure,
  endingOfRefusedMail,
  endingOfReply,
  isAboutIpv6,
  type Peer,
} from './outcome.js';
import { type HostAddress, planSession, type Security, securityFor, sessionKey } from './plan-session.js';
import type { MailHost, Route } from './route.js';
import { type DeliveryEnd, runDelivery } from './transaction.js';

export type HostsRoute = Extract<Route, { kind: 'hosts' }>;

interface AttemptContext {
  readonly pool: SessionPool;
  readonly options: DirectOptions;
  readonly isStopping: () => boolean;
  /** A host asks for a slower pace. */
  readonly onThrottled: (host: string) => void;
}

/** Where to go on for the recipients that are left. */
type Next = 'address' | 'host' | 'end';

/** RFC 5321 section 4.5.3.1.10: too many recipients, which is not for good. */
const TOO_MANY_RECIPIENTS = 552;
/** When no connection was free, and no server has been asked. */
const BUSY_AGAIN_MS = 60_000;
const MAY_HAVE_IT = ending('unknown', '4.3.0', 'an internal error after the final dot');

/**
 * One attempt to deliver a message to the hosts of a route, in their order.
 *
 * A recipient is settled by 5yz in reply to its RCPT or by any reply to the final dot. What ends a session before that
 * is no answer to the message: the next address is tried, then the next host, then it is for later. So is 5yz at the
 * greeting or at EHLO, which speaks of the host, and 4yz to RCPT: the next host is tried. A refusal for good over IPv6
 * that may be about the address is tried once over IPv4.
 */
export class Attempt {
  readonly #job: DeliveryJob;
  readonly #route: HostsRoute;
  readonly #pool: SessionPool;
  readonly #options: DirectOptions;
  readonly #isStopping: () => boolean;
  readonly #onThrottled: (host: string) => void;
  readonly #endsAtMs: number;
  readonly #settled = new Map<string, Ending>();
  /** What stands for the recipients that are not settled when nothing more can be tried. */
  readonly #soFar = new Map<string, Ending>();
  #isIpv4Only = false;
  #dotOutOn: SmtpSession | null = null;

  constructor(
    job: DeliveryJob,
    route: HostsRoute,
    { pool, options, isStopping, onThrottled }: AttemptContext,
  ) {
    this.#job = job;
    this.#route = route;
    this.#pool = pool;
    this.#options = options;
    this.#isStopping = isStopping;
    this.#onThrottled = onThrottled;
    this.#endsAtMs = performance.now() + options.attemptMs;
  }

  /** The session on which the final dot has left and its reply has not come. */
  get dotOutOn(): SmtpSession | null {
    return this.#dotOutOn;
  }

  async run(): Promise<readonly DeliveryOutcome[]> {
    let next: Next = 'host';
    for (const host of this.#route.hosts) {
      if (next !== 'end') next = await this.#visit(host);
    }
    return this.outcomes(ending('later', '4.4.4', 'no server of the domain can be tried'));
  }

  /** An outcome for each recipient; `rest` for those of whom nothing is known. */
  outcomes(rest: Ending): readonly DeliveryOutcome[] {
    return this.#job.recipients.map(recipient => ({
      recipient,
      ...(this.#settled.get(recipient) ?? this.#soFar.get(recipient) ?? rest),
    }));
  }

  get #pending(): readonly string[] {
    return this.#job.recipients.filter(recipient => !this.#settled.has(recipient));
  }

  async #visit(host: MailHost): Promise<Next> {
    let addresses = this.#addressesOf(host);
    while (addresses.length > 0) {
      if (this.#pending.length === 0 || performance.now() > this.#endsAtMs) return 'end';
      const wasIpv4Only = this.#isIpv4Only;
      const next = await this.#try(host, addresses);
      if (next === 'end') return 'end';
      if (this.#isIpv4Only && !wasIpv4Only) addresses = this.#addressesOf(host);
      else if (next === 'host') return 'host';
      else addresses = addresses.slice(1);
    }
    return 'host';
  }

  #addressesOf(host: MailHost): readonly HostAddress[] {
    return host.addresses.filter(({ family }) => family === 4 || !this.#isIpv4Only);
  }

  /** Tries the first of these addresses, or a kept session with any of them. */
  async #try(host: MailHost, addresses: readonly HostAddress[]): Promise<Next> {
    try {
      return await this.#deliver(host, addresses, true);
    } catch (error) {
      if (!(error instanceof SessionFailure)) throw error;
      const isFirst = this.#soFar.size === 0 && this.#settled.size === 0;
      const how = endingOfFailure(error, host.name);
      this.#leave(error.kind === 'busy' && isFirst ? { ...how, retryAfterMs: BUSY_AGAIN_MS } : how);
      if (error.kind === 'busy' || error.kind === 'stopped') return 'end';
      const { reply } = error;
      if (reply === null || !isOfClass(reply, 5)) return 'address';
      if (isAboutIpv6(reply) && addresses[0]?.family === 6) this.#isIpv4Only = true;
      return 'host';
    }
  }

  /** @throws SessionFailure when no session can be set up */
  async #deliver(host: MailHost, addresses: readonly HostAddress[], mayReuse: boolean): Promise<Next> {
    const lease = await this.#acquire(host, addresses, mayReuse);
    const { session } = lease;
    const refusals = new Map<string, ServerReply>();
    let end: DeliveryEnd | null = null;
    try {
      end = await this.#transact(lease, refusals);
    } finally {
      this.#dotOutOn = null;
      if (end === null || !mayBeReused(end)) session.destroy();
      // The outcome does not wait for RSET or QUIT.
      void this.#pool.release(lease, end?.end === 'refused' || end?.end === 'no_recipients');
    }
    if (lease.isReused && isOfServer(end) && wasDead(end)) {
      return this.#deliver(host, addresses, false);
    }
    const isIpv6 = session.address.includes(':');
    return this.#take(end, refusals, { host: host.name, tls: session.protocol }, isIpv6);
  }

  #transact({ session, isReused }: Lease, refusals: Map<string, ServerReply>): Promise<DeliveryEnd> {
    const { reusedMs, commandMs } = this.#options;
    const { from, content } = this.#job;
    const message = {
      from,
      content,
      recipients: this.#pending,
      onRefused: (recipient: string, reply: ServerReply) => void refusals.set(recipient, reply),
      beforeDot: async (accepted: readonly string[]): Promise<boolean> => {
        if (this.#isStopping() || !(await this.#job.beforeDot(accepted)) || this.#isStopping()) return false;
        this.#dotOutOn = session;
        // Whatever breaks here from now on.
        for (const recipient of accepted) this.#soFar.set(recipient, MAY_HAVE_IT);
        return true;
      },
    };
    const mailMs = isReused ? Math.min(reusedMs, commandMs) : commandMs;
    return runDelivery(session, message, { ...this.#options, mailMs });
  }

  /** Where any certificate would do and the handshake fails, a new connection is made in plain text. */
  async #acquire(host: MailHost, addresses: readonly HostAddress[], mayReuse: boolean): Promise<Lease> {
    const security = securityFor(host, this.#route.tls);
    try {
      return await this.#acquireAs(security, host, addresses, mayReuse);
    } catch (error) {
      if (security !== 'opportunistic' || !isOfHandshake(error)) throw error;
      return this.#acquireAs('plain', host, addresses, mayReuse);
    }
  }

  #acquireAs(
    security: Security,
    host: MailHost,
    addresses: readonly HostAddress[],
    mayReuse: boolean,
  ): Promise<Lease> {
    const [address] = addresses;
    if (address === undefined) throw new SessionFailure('unreachable', `${host.name} has no address`);
    const kinds: readonly Security[] = security === 'opportunistic' ? ['opportunistic', 'plain'] : [security];
    const reuse = addresses.flatMap(one => kinds.map(kind => sessionKey(host, one, kind)));
    return this.#pool.acquire({
      party: host.name,
      key: sessionKey(host, address, security),
      reuse: mayReuse ? reuse : [],
      open: () =>
        new SessionOpening(this.#options.setupMs, () => planSession(host, address, security, this.#options)),
    });
  }

  #take(end: DeliveryEnd, refusals: Map<string, ServerReply>, peer: Peer, isIpv6: boolean): Next {
    const accepted = this.#pending.filter(recipient => !refusals.has(recipient));
    const isOfSession = this.#takeEnd(end, accepted, peer, isIpv6);
    for (const [recipient, reply] of refusals) this.#takeRefusal(recipient, reply, peer, isIpv6);
    if (end.end === 'withheld' || this.#pending.length === 0) return 'end';
    // What a host says of a recipient it says at each of its addresses.
    return isOfSession ? 'address' : 'host';
  }

  #takeRefusal(recipient: string, reply: ServerReply, peer: Peer, isIpv6: boolean): void {
    const isForGood =
      isOfClass(reply, 5) && !(reply.code === TOO_MANY_RECIPIENTS && this.#isOneOfMany(reply));
    if (isForGood) {
      this.#refuse([recipient], reply, refusal(reply, peer), isIpv6);
      return;
    }
    const soft = endingOfReply('later', reply, peer);
    this.#hear(soft);
    // It may be taken at the next host.
    this.#soFar.set(recipient, soft);
  }

  #isOneOfMany({ enhanced }: ServerReply): boolean {
    return this.#job.recipients.length > 1 && (enhanced === null || enhanced === '5.5.3');
  }

  /** @returns whether the session has failed as a whole, which answers nothing */
  #takeEnd(end: DeliveryEnd, accepted: readonly string[], peer: Peer, isIpv6: boolean): boolean {
    switch (end.end) {
      case 'accepted':
        return this.#settle(accepted, endingOfReply('delivered', end.reply, peer));
      case 'no_recipients':
        return false;
      case 'oversize': {
        const words = `the server takes messages of up to ${end.maxBytes} bytes`;
        return this.#settle(accepted, ending('failed', '5.3.4', words, peer));
      }
      case 'withheld':
        return this.#settle(
          accepted,
          ending('later', '4.3.2', 'not sent: the service could not go on', peer),
        );
      case 'refused':
        if (isOfClass(end.reply, 5)) {
          const refused = end.at.step === 'MAIL' ? endingOfRefusedMail : refusal;
          this.#refuse(accepted, end.reply, refused(end.reply, peer), isIpv6);
          return false;
        }
        // A reply to the final dot settles; before it, nothing has been answered.
        if (end.at.step === 'DOT') return this.#settle(accepted, endingOfReply('later', end.reply, peer));
        return this.#leave(endingOfReply('later', end.reply, peer));
      case 'confused': {
        const words = `unexpected at ${describePlace(end.at)}: ${end.reply.code} ${end.reply.text}`;
        return mayHaveIt(end)
          ? this.#settle(accepted, ending('unknown', '4.5.0', words, peer))
          : this.#leave(ending('later', '4.5.0', words, peer));
      }
      case 'lost': {
        const words = `${end.words} (at ${describePlace(end.at)})`;
        if (end.hasDotLeft) return this.#settle(accepted, ending('unknown', '4.4.2', words, peer));
        return this.#leave(ending('later', end.reason === 'stopped' ? '4.3.2' : '4.4.2', words, peer));
      }
    }
  }

  #hear({ isThrottled, host }: Ending): void {
    if (isThrottled === true && host !== null) this.#onThrottled(host);
  }

  #settle(recipients: readonly string[], how: Ending): false {
    this.#hear(how);
    for (const recipient of recipients) this.#settled.set(recipient, how);
    return false;
  }

  /** Nothing is settled by this. That a host cannot be reached says less than what another one has said. */
  #leave(how: Ending): true {
    this.#hear(how);
    for (const recipient of this.#pending) {
      const before = this.#soFar.get(recipient);
      const saidMore = how.host === null && before?.state === 'later' && before.host !== null;
      if (!saidMore) this.#soFar.set(recipient, how);
    }
    return true;
  }

  /** For good, unless it may be about our IPv6 address and there is an IPv4 address left to try. */
  #refuse(recipients: readonly string[], reply: ServerReply, how: Ending, isIpv6: boolean): void {
    if (!isIpv6 || !isAboutIpv6(reply)) {
      this.#settle(recipients, how);
      return;
    }
    this.#isIpv4Only = true;
    for (const recipient of recipients) this.#soFar.set(recipient, how);
  }
}

const refusal = (reply: ServerReply, peer: Peer): Ending => endingOfReply('failed', reply, peer);

/** Did a session fail between STARTTLS and the end of the handshake, other than by a refusal or by us? */
function isOfHandshake(error: unknown): boolean {
  if (!(error instanceof SessionFailure) || error.step !== 'STARTTLS') return false;
  return error.kind !== 'refused' && error.kind !== 'stopped';
}

/** `no_recipients` and `withheld` are ours, the others are what the server has made of it. */
function isOfServer(end: DeliveryEnd): end is TransactionEnd {
  return end.end !== 'no_recipients' && end.end !== 'withheld';
}

function mayBeReused(end: DeliveryEnd): boolean {
  return isOfServer(end) ? canGoOn(end) : end.end === 'no_recipients';
}
