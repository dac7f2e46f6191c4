import type { Environment } from '../config/layers.js';
import type { Config } from '../config/load-config.js';
import type { Dns } from '../dns/dns-client.js';
import type { ClockReading } from '../domain/clock.js';
import type { Store } from '../store/engine/store.js';
import type { WordIndex } from '../usecases/search/word-index.js';
import type { HookCall, HookOutcome } from '../usecases/webhooks/hook-call.js';

/**
 * Writes all of `data`; resolves when it has been accepted, which is the backpressure of a slow reader.
 * Rejects with `OutputClosedError` when the reader is gone, with `OutputFailedError` when writing fails.
 */
export type Write = (data: string | Uint8Array) => Promise<void>;

export interface ServeOptions {
  readonly config: Config;
  /** The file that the configuration was read from; null when there was none. */
  readonly configFile: string | null;
}

/** A part of what the daemon may take of memory at most. */
export interface MemoryPart {
  /** What it is for, with the keys that change it. */
  readonly part: string;
  readonly bytes: number;
}

/** Whether mail servers elsewhere can be reached: `unknown` when it could not be tried. */
export interface OutgoingTrial {
  readonly status: 'open' | 'closed' | 'unknown';
  readonly detail: string;
}

export type RedisView =
  /** It does not answer, or refuses us. */
  | { readonly status: 'unreachable' | 'denied'; readonly reason: string }
  | {
      readonly status: 'known';
      /** `maxmemory-policy`; null when it does not tell. */
      readonly policy: string | null;
      readonly version: string | null;
      readonly isTooOld: boolean;
      /** It could not write to its disk, and refuses new work because of that. */
      readonly hasFailedToSave: boolean;
    };

/** How this machine reaches others, and they it. */
export interface Outside {
  /** The public addresses that mail leaves from or arrives at, as far as the machine knows them. */
  addresses(config: Config): Promise<readonly string[]>;
  /** Connects to the mail servers of a domain, and sends nothing. */
  tryOutgoing(config: Config, dns: Dns, domain: string): Promise<OutgoingTrial>;
  /** Connects to a mail server, and says nothing. Never rejects. */
  greetingOf(address: string, port: number): Promise<{ readonly ok: boolean; readonly text: string }>;
  /** What a Redis that the operator runs says of itself. Never rejects. */
  lookAtRedis(url: string): Promise<RedisView>;
  /** Sends an event to an endpoint, once. Never rejects. */
  callHook(config: Config, call: HookCall): Promise<HookOutcome>;
}

/** A search index that is open. */
export interface OpenIndex extends WordIndex {
  close(): void;
}

/** A certificate that a listener serves, or is to serve. */
export interface CertificateStatus {
  /** Files that others renew, or an authority that is asked for it. */
  readonly source: 'files' | 'acme';
  readonly file: string;
  readonly serves: readonly ('smtp' | 'http')[];
  /** replaced_soon: it is valid, but other names or another authority are configured by now. */
  readonly state: 'valid' | 'replaced_soon' | 'expired' | 'missing' | 'unreadable';
  readonly names: readonly string[];
  readonly issuer: string | null;
  /** Instants in ISO 8601. */
  readonly valid_from: string | null;
  readonly valid_to: string | null;
  /** Whole days; negative once it has expired. */
  readonly days_left: number | null;
  /** The names that an authority is asked for; null, as all below, for files. */
  readonly asked_for: readonly string[] | null;
  readonly authority: string | null;
  /** When it is tried next to get or renew it; null: at once. */
  readonly renewal_at: string | null;
  readonly last_try_at: string | null;
  /** In a row. */
  readonly failures: number;
  readonly error: { readonly type: string; readonly message: string; readonly advice: string } | null;
}

export type IssueOutcome =
  | { readonly kind: 'issued' }
  /** No certificate is to be got: `tls.acme` is false. */
  | { readonly kind: 'off' }
  | { readonly kind: 'not_due'; readonly renewal_at: string }
  | {
      readonly kind: 'failed';
      /** As the authority calls it (RFC 8555 section 6.7): `dns`, `connection`, `rateLimited`. */
      readonly type: string;
      /** What happened, and what to do. */
      readonly message: string;
      readonly next_try_at: string | null;
    };

export interface CertificateTools {
  status(config: Config): readonly CertificateStatus[];
  /**
   * Gets a certificate from the authority.
   * @param options.needs due: only when there is none that fits, or a third of its lifetime is left
   * @param options.becomeOwner called once the port is open, before any file is touched
   */
  obtain(
    config: Config,
    options: {
      readonly needs: 'due' | 'none';
      readonly becomeOwner: () => void;
      readonly onStep: (step: string) => void;
    },
  ): Promise<IssueOutcome>;
}

/** What the command line needs of the process it runs in. */
export interface CliDependencies {
  /** Runs the daemon until it has stopped; resolves to its exit code. */
  serve(options: ServeOptions): Promise<number>;
  /** What the daemon may take of memory with this configuration. */
  memoryNeeds(config: Config): Promise<readonly MemoryPart[]>;
  /** Functions, as these are loaded when they are needed: together they are most of the program. */
  readonly outside: () => Promise<Outside>;
  readonly certificates: () => Promise<CertificateTools>;
  /** Opens the search index of a store, to be read. */
  readonly openIndex: (store: Store) => Promise<OpenIndex>;
  readonly version: string;
  /** Of Node; by default that of this process. */
  readonly nodeVersion?: string;
  /** Looks at the clock of the machine. */
  readonly readClock: () => ClockReading;
  /** Standard input; a function, because asking for it opens it. */
  readonly stdin: () => AsyncIterable<Uint8Array>;
  readonly stdout: Write;
  readonly stderr: Write;
  /** Which of them are terminals: only there is progress drawn, and a screen wiped. */
  readonly terminals: { readonly stdout: boolean; readonly stderr: boolean };
  readonly env: Environment;
  readonly cwd: string;
}
