import { statfsSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Counter, Gauge, type Registry } from 'prom-client';
import { certificatesIn, validityOf } from '../lib/certificates.js';
import { getMeta } from '../store/engine/meta.js';
import type { Store } from '../store/engine/store.js';
import { countDue, oldestDueAge, PENDING_KINDS, type PendingKind } from '../store/records/pending.js';
import type { Clock } from '../usecases/ports.js';

/** What the SMTP listener has counted by itself. */
export interface SmtpFigures {
  readonly connections: number;
  readonly connectionsTotal: number;
  readonly acceptedMessages: number;
  readonly acceptedOverTls: number;
  readonly refusals: Readonly<Record<string, number>>;
}

/** Where the state of the daemon is read when somebody asks. */
export interface StateSources {
  readonly store: Store;
  readonly clock: Clock;
  readonly version: string;
  readonly mapSizeBytes: number;
  readonly diskFloorBytes: number;
  readonly smtp: () => SmtpFigures;
  /** By name of the queue: can work be queued now? */
  readonly queues: () => Readonly<Record<string, boolean>>;
  /** By listener: the certificates in force, PEM, each with its chain. */
  readonly certificates: () => Readonly<Record<string, string | Buffer>>;
  readonly isReady: () => Promise<boolean>;
}

/** Kinds of work whose backlog says something, and how far it is counted. */
const COUNTED: readonly PendingKind[] = ['parse', 'authenticate', 'relay', 'deliver', 'index'];
const MAX_COUNTED = 1_000;

/** Reads the state of the daemon when somebody asks: one look at each thing, some hundred microseconds in all. */
export class State {
  readonly #sources: StateSources;
  readonly #registry: Registry;
  readonly #gauges = new Map<string, Gauge>();
  readonly #counters = new Map<string, Counter>();
  /** The snapshot that was the oldest when it was last looked, and since when. */
  #oldest = { name: '', since: 0 };

  constructor(registry: Registry, sources: StateSources) {
    this.#registry = registry;
    this.#sources = sources;
    this.#set('postern_build_info', 'Which program this is.', 1, {
      version: sources.version,
      node_version: process.version,
    });
  }

  async read(): Promise<void> {
    this.#readSmtp();
    this.#readStore();
    this.#readDisk();
    await nextTurn();
    await this.#readPending();
    this.#readSurroundings();
    const isReady = await this.#sources.isReady();
    this.#set('postern_ready', 'Whether /readyz says yes.', isReady ? 1 : 0);
  }

  #readSmtp(): void {
    const stats = this.#sources.smtp();
    this.#set('postern_smtp_connections', 'SMTP connections open now.', stats.connections);
    this.#count('postern_smtp_connections_total', 'SMTP connections that were admitted.', [
      [{}, stats.connectionsTotal],
    ]);
    this.#count('postern_smtp_accepted_total', 'Messages accepted over SMTP, by whether TLS was in use.', [
      [{ tls: 'yes' }, stats.acceptedOverTls],
      [{ tls: 'no' }, stats.acceptedMessages - stats.acceptedOverTls],
    ]);
    this.#count(
      'postern_smtp_refusals_total',
      'Refusals of connections, commands, recipients and messages, by reason.',
      Object.entries(stats.refusals).map(([reason, count]) => [{ reason }, count]),
    );
  }

  #readStore(): void {
    const { store, mapSizeBytes } = this.#sources;
    const { reusableBytes, mapFreeBytes } = store.room.sample();
    this.#set('postern_store_used_bytes', 'Live pages of the store.', mapSizeBytes - mapFreeBytes);
    this.#set(
      'postern_store_file_bytes',
      'Bytes that the file of the store has reached.',
      store.reachedBytes(),
    );
    this.#set('postern_store_map_size_bytes', 'Size that the store can grow to.', mapSizeBytes);
    this.#set('postern_store_map_free_bytes', 'What the store can still take.', mapFreeBytes);
    this.#set(
      'postern_store_reusable_bytes',
      'Free pages of the file, as far as they count as room.',
      reusableBytes,
    );
    const hasRoom = store.room.hasRoomFor(0);
    this.#set(
      'postern_store_has_room',
      'Whether new mail is taken: 0 when disk or map are at their floor.',
      hasRoom ? 1 : 0,
    );
    const commits = store.lastCommit();
    this.#count('postern_store_commits_total', 'Commits since the store was made.', [[{}, commits]]);
    const { count, oldest, oldestCommits } = store.heldSnapshots();
    if (oldestCommits === 0) this.#oldest = { name: '', since: 0 };
    else if (oldest !== this.#oldest.name) this.#oldest = { name: oldest, since: performance.now() };
    const seconds = oldestCommits === 0 ? 0 : (performance.now() - this.#oldest.since) / 1000;
    this.#set('postern_store_readers', 'Snapshots of the store that are held, by any process.', count);
    this.#set(
      'postern_store_oldest_reader_commits',
      'Commits since the oldest snapshot that is held.',
      oldestCommits,
    );
    this.#set(
      'postern_store_oldest_reader_seconds',
      'For how long the oldest snapshot was seen here: freed pages cannot be used again before it.',
      seconds,
    );
  }

  #readDisk(): void {
    const { store, diskFloorBytes } = this.#sources;
    const { bavail, blocks, bsize } = statfsSync(store.path);
    this.#set('postern_disk_free_bytes', 'Free on the disk of the store.', bavail * bsize);
    this.#set('postern_disk_size_bytes', 'Size of the disk of the store.', blocks * bsize);
    this.#set('postern_disk_floor_bytes', 'Free space below which nothing new is stored.', diskFloorBytes);
  }

  async #readPending(): Promise<void> {
    const { store, clock } = this.#sources;
    const nowMs = clock();
    const age = 'How long the oldest work of a kind has been due; 0 when none is.';
    const count = `How much work of a kind is due, counted up to ${MAX_COUNTED}.`;
    store.read(reader => {
      for (const kind of PENDING_KINDS) {
        const seconds = (oldestDueAge(reader, kind, nowMs) ?? 0) / 1000;
        this.#set('postern_pending_oldest_age_seconds', age, seconds, { kind });
        if (kind === 'index') {
          const lag = 'How long the oldest change has not been told to the search index.';
          this.#set('postern_search_lag_seconds', lag, seconds);
        }
      }
    });
    const countOf = (kind: PendingKind): number =>
      store.read(reader => countDue(reader, kind, nowMs, MAX_COUNTED));
    for (const kind of COUNTED) {
      await nextTurn();
      this.#set('postern_pending_due', count, countOf(kind), { kind });
    }
    const held = 'Sends that wait for an admin (postern queue status), counted up to 1000.';
    this.#set('postern_sends_held', held, countOf('relay-held'));
  }

  #readSurroundings(): void {
    const { store, clock, queues, certificates } = this.#sources;
    for (const [queue, isUp] of Object.entries(queues())) {
      this.#set('postern_queue_up', 'Whether Redis takes work of a queue.', isUp ? 1 : 0, { queue });
    }
    this.#set('postern_clock_in_doubt', 'Whether the clock has jumped.', clock.isInDoubt === true ? 1 : 0);
    const name = 'postern_certificate_expiry_timestamp_seconds';
    const help =
      'When the certificate of a listener, or what signed it, expires; nothing where there is none.';
    this.#gauge(name, help, ['listener']).reset();
    for (const [listener, pem] of Object.entries(certificates())) {
      const at = expiryOf(pem);
      if (at !== null) this.#set(name, help, at / 1000, { listener });
    }
    const backup = 'When the last backup ended well; nothing where there was none.';
    const gauge = this.#gauge('postern_backup_last_success_timestamp_seconds', backup, []);
    const at = store.read(reader => getMeta(reader, 'lastBackup'))?.finishedAt;
    if (at === undefined) gauge.remove();
    else gauge.set(at / 1000);
  }

  #set(name: string, help: string, value: number, labels: Readonly<Record<string, string>> = {}): void {
    this.#gauge(name, help, Object.keys(labels)).set(labels, value);
  }

  /** For what is counted elsewhere. */
  #count(name: string, help: string, values: readonly (readonly [Record<string, string>, number])[]): void {
    const known = this.#counters.get(name);
    const labelNames = Object.keys(values[0]?.[0] ?? {});
    const counter = known ?? new Counter({ name, help, labelNames, registers: [this.#registry] });
    this.#counters.set(name, counter);
    counter.reset();
    for (const [labels, value] of values) counter.inc(labels, value);
  }

  #gauge(name: string, help: string, labelNames: readonly string[]): Gauge {
    const known = this.#gauges.get(name);
    if (known !== undefined) return known;
    const gauge = new Gauge({ name, help, labelNames: [...labelNames], registers: [this.#registry] });
    this.#gauges.set(name, gauge);
    return gauge;
  }
}

/** When the first certificate of a chain to expire does, in milliseconds since the epoch; null when there is none. */
export function expiryOf(pem: string | Buffer): number | null {
  const instants = certificatesIn(pem.toString('latin1')).map(one => validityOf(one).validToMs);
  return instants.length === 0 ? null : Math.min(...instants);
}
