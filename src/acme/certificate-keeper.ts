import { MOST_BACK_MS } from '../domain/clock.js';
import { DAY_MS, MINUTE_MS } from '../domain/instants.js';
import { backOffMs, reasonOf } from '../lib/async.js';
import type { Clock, Logger } from '../usecases/ports.js';
import { AcmeError, adviceFor } from './acme-error.js';
import { CertificateFolder, type Issued, type TryState } from './certificate-folder.js';
import { ChallengeListener, isTaken, ListenError } from './challenge-listener.js';
import { Challenges } from './challenges.js';
import { isSameList, obtainCertificate } from './obtain-certificate.js';
import type { AcmeSettings } from './settings.js';

/** How often it is looked whether something is due: a command beside the daemon may have changed that. */
const LOOK_MS = 60_000;
const SOONEST_LOOK_MS = 200;
/**
 * The pauses after failures. Let's Encrypt, the strictest of the large ones, allows five failed proofs of a name in an
 * hour: these are three in the first hour, and one a day in the end.
 */
const TRY_PAUSES = { firstMs: 15 * MINUTE_MS, longestMs: DAY_MS } as const;
/** It is renewed when this part of its lifetime is left. */
const LEFT_AT_RENEWAL = 1 / 3;

export interface KeeperOptions {
  readonly settings: AcmeSettings;
  readonly clock: Clock;
  readonly version: string;
  readonly log: Logger;
}

/** Why a certificate is wanted. */
export type Want = 'none' | 'other_names' | 'other_authority' | 'lifetime';

/** When a certificate is to be had, and why. */
export function dueAt(
  { names, directoryUrl }: AcmeSettings,
  issued: Issued | null,
  state: TryState | null,
  nowMs: number,
): { readonly atMs: number; readonly want: Want } {
  if (issued === null) return { atMs: 0, want: 'none' };
  if (names.some(name => issued.certificate.checkHost(name) === undefined)) {
    return { atMs: 0, want: 'other_names' };
  }
  if (state !== null && state.issuedBy !== null && state.issuedBy !== directoryUrl) {
    return { atMs: 0, want: 'other_authority' };
  }
  const renewalMs = (issued.validToMs - issued.validFromMs) * LEFT_AT_RENEWAL;
  // Not at once again by a clock that is ahead, for which a new one is old.
  const issuedAt = state?.nextTryAt === null ? triedAt(state, nowMs) : null;
  const soonestMs = (issuedAt ?? 0) + Math.min(TRY_PAUSES.longestMs, renewalMs);
  return { atMs: Math.max(issued.validToMs - renewalMs, soonestMs), want: 'lifetime' };
}

/**
 * Keeps a certificate: gets one where there is none that fits, renews it in time, and goes on with the old one while
 * that fails. Owns the port for challenges.
 */
export class CertificateKeeper {
  readonly folder: CertificateFolder;
  readonly challenges: Challenges;
  readonly #options: KeeperOptions;
  readonly #listener: ChallengeListener | null;
  readonly #ending = new AbortController();
  /** The port is in the hands of another process, such as the daemon beside a command, which reads the same tokens. */
  #doOthersAnswer = false;
  #onIssued: () => unknown = () => {};
  #timer: NodeJS.Timeout | undefined;
  #current: Promise<void> = Promise.resolve();

  constructor(options: KeeperOptions) {
    this.#options = options;
    const { folder, host, port } = options.settings;
    this.folder = new CertificateFolder(folder);
    this.challenges = new Challenges(this.folder.challenges);
    this.#listener = port === 0 ? null : new ChallengeListener({ host, port, challenges: this.challenges });
  }

  /**
   * Opens the port and begins. A port that cannot be had is told, and tried again with the next certificate.
   * @param onIssued takes over the certificate that was issued; awaited, and must not reject
   */
  async start(onIssued: () => unknown): Promise<void> {
    this.#onIssued = onIssued;
    await this.openPort(false).catch(error => {
      const fields = { err: error, advice: error instanceof AcmeError ? adviceFor(error) : undefined };
      this.#options.log.error(fields, 'the port for certificates cannot be opened');
    });
    this.#schedule(0);
  }

  /**
   * Opens the port for challenges, if there is to be one. Rejects with a `ListenError` when it cannot be had.
   * @param mayOthersAnswer whether it is right that another process has it
   */
  async openPort(mayOthersAnswer: boolean): Promise<void> {
    if (this.#listener === null || this.#doOthersAnswer) return;
    const { host, port } = this.#options.settings;
    try {
      await this.#listener.open();
    } catch (error) {
      if (!mayOthersAnswer || !(error instanceof ListenError) || !(await isTaken(host, port))) throw error;
      this.#doOthersAnswer = true;
    }
  }

  /** Ends what is going on. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#ending.abort();
    await this.#current;
    await this.#listener?.close();
  }

  #schedule(waitMs: number): void {
    if (this.#ending.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#current = this.#look().then(
        nextMs => this.#schedule(nextMs),
        error => {
          this.#options.log.error({ err: error }, 'the certificate cannot be looked after');
          this.#schedule(LOOK_MS);
        },
      );
    }, waitMs).unref();
  }

  /** @returns after how long to look again */
  async #look(): Promise<number> {
    const { settings, clock, log } = this.#options;
    const tries = this.folder.state();
    const { atMs, want } = dueAt(settings, this.folder.issued(), tries, clock());
    const nextMs = Math.max(atMs, pausedUntil(settings, tries, clock()));
    if (clock() < nextMs) return Math.min(LOOK_MS, Math.max(SOONEST_LOOK_MS, nextMs - clock()));
    log.info(
      { names: settings.names, authority: settings.directoryUrl, reason: want },
      'getting a certificate',
    );
    try {
      await this.obtain(step => log.debug({ step }, 'getting a certificate'));
      await this.#onIssued();
      log.info({ expires: this.folder.issued()?.certificate.validTo }, 'a certificate was issued');
    } catch (error) {
      if (this.#ending.signal.aborted) return LOOK_MS;
      const state = this.folder.state();
      log.error(
        {
          err: error,
          advice: error instanceof AcmeError ? adviceFor(error) : undefined,
          failures: state?.failures,
          next_try: state?.nextTryAt == null ? null : new Date(state.nextTryAt).toISOString(),
        },
        'no certificate was issued: the old one stays, and it is tried again',
      );
    }
    return SOONEST_LOOK_MS;
  }

  /**
   * Gets a certificate now, whatever is there, and notes how that went. Rejects as `obtainCertificate` does.
   */
  async obtain(onStep: (step: string) => void): Promise<void> {
    const { settings, clock, version } = this.#options;
    const { signal } = this.#ending;
    const before = this.folder.state();
    const isSame = before !== null && isAboutThese(settings, before);
    const earlier = isSame ? before.failures : 0;
    const issuedBy = before?.issuedBy ?? null;
    // Before the authority is asked for anything: a process that is killed over and over, or a disk that takes nothing,
    // must not make it be asked over and over.
    const leastMs = earlier === 0 ? LOOK_MS : backOffMs(earlier - 1, TRY_PAUSES);
    const error = isSame ? before.error : null;
    this.folder.saveState({
      ...this.#asked(),
      issuedBy,
      failures: earlier,
      nextTryAt: clock() + leastMs,
      error,
    });
    try {
      await this.openPort(false);
      await obtainCertificate({ settings, folder: this.folder, clock, version, signal, onStep });
    } catch (error) {
      if (signal.aborted) {
        if (before !== null) this.folder.saveState(before);
        throw error;
      }
      const failures = earlier + 1;
      const askedMs = error instanceof AcmeError ? (error.retryAfterMs ?? 0) : 0;
      this.folder.saveState({
        ...this.#asked(),
        issuedBy,
        failures,
        nextTryAt: clock() + Math.max(backOffMs(failures - 1, TRY_PAUSES), askedMs),
        error: {
          type: error instanceof AcmeError ? error.type : 'disk',
          message: reasonOf(error),
          host: error instanceof AcmeError ? error.host : null,
        },
      });
      throw error;
    }
    this.folder.saveState({
      ...this.#asked(),
      issuedBy: settings.directoryUrl,
      failures: 0,
      nextTryAt: null,
      error: null,
    });
  }

  #asked(): Pick<TryState, 'names' | 'directoryUrl' | 'lastTryAt'> {
    const { settings, clock } = this.#options;
    return { names: settings.names, directoryUrl: settings.directoryUrl, lastTryAt: clock() };
  }
}

/** Up to when no try is made after failures. Other names and another authority are asked for at once. */
export function pausedUntil(settings: AcmeSettings, state: TryState | null, nowMs: number): number {
  const isMeant = state !== null && isAboutThese(settings, state) && triedAt(state, nowMs) !== null;
  return isMeant ? (state.nextTryAt ?? 0) : 0;
}

/** When the last try was; null: never, or by a clock that has been set back since. */
function triedAt(state: TryState | null, nowMs: number): number | null {
  const at = state?.lastTryAt ?? null;
  return at === null || at > nowMs + MOST_BACK_MS ? null : at;
}

function isAboutThese({ names, directoryUrl }: AcmeSettings, state: TryState): boolean {
  return state.directoryUrl === directoryUrl && isSameList(state.names, names);
}
