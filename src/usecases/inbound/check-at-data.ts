import { clientNetworks } from '../../domain/addresses.js';
import type { AccountId } from '../../domain/ids.js';
import { FairShare, within } from '../../lib/async.js';
import type { Store } from '../../store/engine/store.js';
import type { BlobUpload } from '../../store/records/blob-upload.js';
import type { Authenticator, Envelope, MessageParser, ParseSource } from '../ports.js';
import type { AuthorFinding } from './receiving-rules.js';

export interface DataCheckLimits {
  /** Checks at once: all together, for clients of one network (`ClientNetworks.site`), for recipients of one account. */
  readonly all: number;
  readonly perNetwork: number;
  readonly perAccount: number;
  /** Of the places of an account, those that clients of one network may have. */
  readonly perNetworkOfAccount: number;
  /** Messages that are checked or wait for their turn: one more of a network is told to try again at once. */
  readonly waitingPerNetwork: number;
  /** Beyond so many in all, a network may have no more than `waitingAlways`. */
  readonly waiting: number;
  readonly waitingAlways: number;
  /** How long one waits for each turn, and then for what is found out. */
  readonly turnMs: number;
  readonly answerMs: number;
}

/**
 * A check takes milliseconds, or what the DNS is given where it is silent (five seconds, unless configured). One who waits has its turn when
 * those before it are over; whoever makes us ask servers that do not answer keeps places of its own alone.
 */
export const DATA_CHECK_LIMITS: DataCheckLimits = {
  all: 64,
  perNetwork: 16,
  perAccount: 32,
  perNetworkOfAccount: 8,
  waitingPerNetwork: 32,
  waiting: 256,
  waitingAlways: 2,
  turnMs: 8_000,
  answerMs: 6_000,
};

export interface DataCheckDeps {
  readonly store: Store;
  readonly authenticator: Authenticator;
  readonly parser: MessageParser;
}

/** Finds out who has written a message before it is taken, for rules that go by it, and lets nobody wait for long. */
export class DataChecks {
  readonly #deps: DataCheckDeps;
  readonly #limits: DataCheckLimits;
  readonly #places: CheckPlaces;

  constructor(deps: DataCheckDeps, limits: DataCheckLimits = DATA_CHECK_LIMITS) {
    this.#deps = deps;
    this.#limits = limits;
    this.#places = new CheckPlaces(limits);
  }

  /**
   * @param upload all of the message; a unit of work that came after its last byte has been flushed
   * @param account of the first recipient
   * @param mayReport whether it may be a report that somebody wants to know of, so that it is parsed
   * @returns null when it is not found out in time, or too much else is: the client is to try again. Never rejects
   */
  async check(
    upload: BlobUpload,
    envelope: Pick<Envelope, 'from' | 'clientAddress' | 'helo'>,
    account: AccountId,
    mayReport: boolean,
  ): Promise<AuthorFinding | null> {
    const { site } = clientNetworks(envelope.clientAddress);
    upload.stepAside();
    const release = await this.#places.take(site, account);
    if (release === null) return null;
    // The place is taken for as long as the work goes on, which may be longer than anybody waits for it.
    const work = this.#find(sourceOf(this.#deps.store, upload, site), envelope, mayReport).finally(release);
    return within(this.#limits.answerMs, work);
  }

  async #find(
    source: ParseSource,
    { from, clientAddress, helo }: Pick<Envelope, 'from' | 'clientAddress' | 'helo'>,
    mayReport: boolean,
  ): Promise<AuthorFinding> {
    const origin = { clientAddress, helo, sender: from };
    if (mayReport) {
      const outcome = await this.#deps.parser.parse({ ...source, origin }).catch(() => null);
      const { authentication = null, report = null } = outcome?.status === 'parsed' ? outcome.prepared : {};
      if (authentication !== null) return { authentication, report };
    }
    return { authentication: await this.#deps.authenticator.check(source, origin), report: null };
  }
}

/** The bytes of an upload that has come to its end. They are read while it is neither finished nor aborted. */
function sourceOf(store: Store, upload: BlobUpload, owner: string): ParseSource {
  const chunkAt = (index: number): Uint8Array | null => store.read(reader => upload.chunkAt(reader, index));
  return {
    size: upload.size,
    owner,
    bytes: {
      async *[Symbol.asyncIterator]() {
        for (let index = 0, chunk = chunkAt(0); chunk !== null; chunk = chunkAt(++index)) yield chunk;
      },
    },
    readInto(target) {
      let at = 0;
      for (let index = 0, chunk = chunkAt(0); chunk !== null; chunk = chunkAt(++index)) {
        target.set(chunk, at);
        at += chunk.length;
      }
    },
  };
}

/** Who may check now. Networks and accounts take turns, and none has more than its share. */
class CheckPlaces {
  readonly #limits: DataCheckLimits;
  readonly #all: FairShare;
  /** Of accounts that have something to be checked: their places, divided among networks. */
  readonly #accounts = new Map<AccountId, { readonly share: FairShare; users: number }>();
  /** Messages that are checked or wait, by network, and all of them. */
  readonly #waiting = new Map<string, number>();
  #waitingInAll = 0;

  constructor(limits: DataCheckLimits) {
    this.#limits = limits;
    this.#all = new FairShare({ capacity: limits.all, perParty: limits.perNetwork });
  }

  /** @returns gives the place back; null when there is none in time, or too many wait for one */
  async take(network: string, account: AccountId): Promise<(() => void) | null> {
    const { waiting, waitingPerNetwork, waitingAlways } = this.#limits;
    const most = this.#waitingInAll < waiting ? waitingPerNetwork : waitingAlways;
    if ((this.#waiting.get(network) ?? 0) >= most) return null;
    this.#enter(network, account);
    const places = await this.#takeBoth(network, account);
    if (places === null) {
      this.#leave(network, account);
      return null;
    }
    return () => {
      for (const release of places) release();
      this.#leave(network, account);
    };
  }

  /**
   * A place among those of the account, then one among all. Who waits for the second holds one of the account's that only
   * its own network could have.
   */
  async #takeBoth(network: string, account: AccountId): Promise<readonly (() => void)[] | null> {
    const { turnMs } = this.#limits;
    const ofAccount = (await this.#accounts.get(account)?.share.take(network, 1, turnMs)) ?? null;
    if (ofAccount === null) return null;
    const ofAll = await this.#all.take(network, 1, turnMs);
    if (ofAll !== null) return [ofAccount, ofAll];
    ofAccount();
    return null;
  }

  #enter(network: string, account: AccountId): void {
    const { perAccount, perNetworkOfAccount } = this.#limits;
    this.#waitingInAll++;
    this.#waiting.set(network, (this.#waiting.get(network) ?? 0) + 1);
    const own = this.#accounts.get(account) ?? {
      share: new FairShare({ capacity: perAccount, perParty: perNetworkOfAccount }),
      users: 0,
    };
    own.users++;
    this.#accounts.set(account, own);
  }

  #leave(network: string, account: AccountId): void {
    this.#waitingInAll--;
    const left = (this.#waiting.get(network) ?? 1) - 1;
    if (left > 0) this.#waiting.set(network, left);
    else this.#waiting.delete(network);
    const own = this.#accounts.get(account);
    if (own !== undefined && --own.users === 0) this.#accounts.delete(account);
  }
}
