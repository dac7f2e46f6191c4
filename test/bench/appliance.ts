import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { AccountId, InboxId, MessageId } from '../../src/domain/ids.js';
import type { Store } from '../../src/store/engine/store.js';
import { getCounters, scanSummaries } from '../../src/store/mailbox/folders.js';
import { getMessage, type ProcessingStatus } from '../../src/store/mailbox/messages.js';
import { openMigratedStore, openStore } from '../../src/store/open-store.js';
import { listDue, listDueAfter } from '../../src/store/records/pending.js';
import { createAccount } from '../../src/usecases/accounts/accounts.js';
import { createKey } from '../../src/usecases/accounts/api-keys.js';
import { createInbox } from '../../src/usecases/inboxes/create-inbox.js';
import { lineOf, startChild, stopChild } from './child-process.js';
import { undoAtExit } from './cleanup.js';
import { type LoopFigures, measureLoop } from './measure/loop-figures.js';
import {
  childPids,
  cpuSeconds,
  type MemoryPeak,
  processName,
  watchMemory,
} from './measure/process-memory.js';
import { liveBytes, storeDiskBytes } from './measure/store-size.js';

const DOMAIN = 'bench.example';
const START_MS = 30_000;
const READY_MS = 180_000;
/** The path is relative to `dist/test/bench/appliance.js`. */
const LAUNCHER = join(import.meta.dirname, '../../../bin/postern');
const MAP_GIB = 64;

export interface Fared {
  readonly loop: LoopFigures;
  readonly memory: MemoryPeak;
}

/**
 * A whole Postern, started as an operator starts it, on free ports and its own data directory, with one inbox. The
 * bench reads its store to see when accepted mail is ready; asking the API would add load.
 */
export class Appliance {
  readonly recipient = `agent@${DOMAIN}`;
  readonly smtpPort: number;
  readonly httpPort: number;
  /** From the start of the process to its log line "postern is ready". */
  readonly startMs: number;
  readonly #child: ChildProcess;
  readonly #mailbox: Mailbox;
  readonly #store: Store;

  private constructor(mailbox: Mailbox, child: ChildProcess, ready: Ready, startMs: number) {
    this.#mailbox = mailbox;
    this.#child = child;
    this.smtpPort = ready.smtp_port;
    this.httpPort = ready.http_port;
    this.startMs = startMs;
    this.#store = openStore(storeOptions(mailbox.folder));
  }

  static async start(mailbox: Mailbox, settings: Readonly<Record<string, string>> = {}): Promise<Appliance> {
    const startedAt = performance.now();
    const child = startDaemon(mailbox, settings);
    const ready = await lineOf(child, readReady, START_MS);
    return new Appliance(mailbox, child, ready, performance.now() - startedAt);
  }

  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error('the daemon has no process');
    return pid;
  }

  /** The managed Redis. */
  get redisPid(): number {
    const pid = childPids(this.pid).find(child => processName(child) === 'redis-server');
    if (pid === undefined) throw new Error('the daemon runs no Redis');
    return pid;
  }

  /** Processor time of daemon and Redis since their start, in seconds. */
  cpuSeconds(): number {
    return cpuSeconds(this.pid) + cpuSeconds(this.redisPid);
  }

  get credential(): string {
    return this.#mailbox.credential;
  }

  get listPath(): string {
    return `/v1/inboxes/${this.#mailbox.inboxId}/messages?limit=20`;
  }

  get sendPath(): string {
    return `/v1/inboxes/${this.#mailbox.inboxId}/sent`;
  }

  /** Messages accepted so far. */
  accepted(): number {
    const { inboxId } = this.#mailbox;
    return this.#store.read(reader => getCounters(reader, { inboxId, kind: 'received' }).live);
  }

  isAllSettled(): boolean {
    return this.#store.read(reader => listDue(reader, 'parse', Date.now() + 60_000, 1)).length === 0;
  }

  /** Is nothing left that the search index has to learn? */
  isAllIndexed(): boolean {
    return this.#store.read(reader => listDueAfter(reader, 'index', 0, 1)).length === 0;
  }

  /** Is nothing left to be delivered to other domains? */
  isAllDelivered(): boolean {
    return this.#store.read(reader => listDueAfter(reader, 'deliver', 0, 1)).length === 0;
  }

  /** Is there mail that could be tried now? */
  hasDueDeliveries(): boolean {
    return this.#store.read(reader => listDue(reader, 'deliver', Date.now(), 1)).length > 0;
  }

  /** Of the mail in the store. */
  liveBytes(): number {
    return this.#store.read(liveBytes);
  }

  /** Of the store, on disk. */
  diskBytes(): number {
    return storeDiskBytes(dataFolder(this.#mailbox.folder));
  }

  statusOf(id: string): ProcessingStatus | undefined {
    return this.#store.read(reader => getMessage(reader, id as MessageId))?.status;
  }

  /** Resolves when nothing waits to be parsed. */
  async untilAllSettled(pollMs = 10): Promise<void> {
    const deadline = Date.now() + READY_MS;
    while (!this.isAllSettled()) {
      if (Date.now() > deadline) throw new Error('accepted mail does not become ready');
      await delay(pollMs);
    }
  }

  /** Resolves when nothing waits to be parsed; rejects when the newest messages could not be. */
  async untilAllReady(pollMs = 10): Promise<void> {
    await this.untilAllSettled(pollMs);
    const { inboxId } = this.#mailbox;
    const newest = this.#store.read(reader =>
      scanSummaries(
        reader,
        { inboxId, kind: 'received' },
        { from: 0, to: 2 ** 48 - 1, isDescending: true, limit: 100 },
      ),
    );
    const failed = newest.filter(({ summary }) => summary.includes('"processing_status":"failed"'));
    if (failed.length > 0) throw new Error(`${failed.length} of ${newest.length} messages failed to parse`);
  }

  /** Measures event loop and memory of the daemon from now on, until the returned function is called. */
  watch(): () => Promise<Fared> {
    const endLoop = measureLoop(this.pid, loopFile(this.#mailbox));
    const endMemory = watchMemory(this.pid);
    return async () => {
      const loop = await endLoop();
      return { loop, memory: endMemory() };
    };
  }

  async stop(): Promise<void> {
    await this.#store.close();
    await stopChild(this.#child);
  }
}

/** A data directory with an account, an inbox and a key in it; it outlives the daemons that use it. */
export interface Mailbox {
  readonly folder: string;
  readonly inboxId: InboxId;
  readonly credential: string;
  /** It was removed in order. */
  readonly isGone: () => void;
}

export async function makeMailbox(): Promise<Mailbox> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-postern-'));
  const isGone = undoAtExit(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const data = dataFolder(folder);
  mkdirSync(data, { mode: 0o700 });
  // The bench must not use the configuration in /etc/postern of this machine.
  writeFileSync(configFile(folder), '');
  const store = await openMigratedStore(storeOptions(folder));
  const deps = tenantDeps(store);
  const account = await createAccount(deps, 'human@bench.example');
  const accountId = account.account_id as AccountId;
  const key = await createKey(deps, { account: accountId });
  const inbox = await createInbox(deps, { accountId, local_part: 'agent' });
  await store.close();
  return { folder, inboxId: inbox.id as InboxId, credential: key.credential, isGone };
}

/** The store of a mailbox, for a bench that works on it in its own process. */
export function openMailboxStore(mailbox: Mailbox): Store {
  const store = openStore(storeOptions(mailbox.folder));
  // As the daemon does that owns it.
  store.trustFile();
  return store;
}

export function removeMailbox(mailbox: Mailbox): void {
  mailbox.isGone();
  rmSync(mailbox.folder, { recursive: true, force: true, maxRetries: 5 });
}

interface Ready {
  readonly smtp_port: number;
  readonly http_port: number;
}

function readReady(line: string): Ready | undefined {
  return line.includes('postern is ready') ? (JSON.parse(line) as Ready) : undefined;
}

function startDaemon(mailbox: Mailbox, settings: Readonly<Record<string, string>>): ChildProcess {
  const probe = new URL('measure/loop-probe.js', import.meta.url).href;
  // For profiles: BENCH_NODE_ARGS="--cpu-prof --cpu-prof-dir=DIR".
  const extra = (process.env.BENCH_NODE_ARGS ?? '').split(' ').filter(argument => argument !== '');
  return startChild(
    process.execPath,
    ['--import', probe, ...extra, LAUNCHER, '--config', configFile(mailbox.folder), 'serve'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: mailbox.folder,
      env: {
        PATH: process.env.PATH ?? '',
        BENCH_LOOP_FILE: loopFile(mailbox),
        POSTERN_MAIL_DOMAINS: DOMAIN,
        POSTERN_MAIL_HOSTNAME: 'mail.bench.example',
        POSTERN_STORE_PATH: dataFolder(mailbox.folder),
        POSTERN_STORE_MAP_SIZE_GIB: `${MAP_GIB}`,
        POSTERN_LIMITS_STORAGE_MIB: `${MAP_GIB * 1024}`,
        POSTERN_SMTP_HOST: '127.0.0.1',
        POSTERN_SMTP_PORT: '0',
        // All load comes from one address.
        POSTERN_SMTP_MAX_CLIENTS_PER_ADDRESS: '1000',
        POSTERN_HTTP_PORT: '0',
        ...settings,
      },
    },
  );
}

function storeOptions(folder: string) {
  return { path: dataFolder(folder), mapSizeBytes: MAP_GIB * 2 ** 30, diskFloorBytes: 2 ** 20 };
}

export function dataFolder(folder: string): string {
  return join(folder, 'data');
}

function configFile(folder: string): string {
  return join(folder, 'postern.toml');
}

function loopFile(mailbox: Mailbox): string {
  return join(mailbox.folder, 'loop.json');
}

/** What makes accounts and inboxes beside those of the mailbox. */
export function tenantDeps(store: Store) {
  return {
    store,
    clock: Date.now,
    limits: { inboxes: 10, sends: 10, storageMib: 2048 },
    domains: [DOMAIN],
    reservedLocalParts: [],
    increaseRequest: '-',
    policyUrl: '-',
  };
}
