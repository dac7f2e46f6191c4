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

/** What the command line needs of the process it runs in. */
export interface CliDependencies {
  /** Runs the daemon until it has stopped; resolves to its exit code. */
  serve(options: ServeOptions): Promise<number>;
  /** What the daemon may take of memory with this configuration. */
  memoryNeeds(config: Config): readonly MemoryPart[];
  readonly outside: Outside;
  /** Opens the search index of a store, to be read. */
  readonly openIndex: (store: Store) => OpenIndex;
  readonly version: string;
  /** Of Node; by default that of this process. */
  readonly nodeVersion?: string;
  /** Looks at the clock of the machine. */
  readonly readClock: () => ClockReading;
  /** Standard input; a function, because asking for it opens it. */
  readonly stdin: () => AsyncIterable<Uint8Array>;
  readonly stdout: Write;
  readonly stderr: Write;
  /** A person watches stderr: long commands show there how far they are. */
  readonly isWatched?: boolean;
  readonly env: Environment;
  readonly cwd: string;
}
