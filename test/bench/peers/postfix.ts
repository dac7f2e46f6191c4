import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../child-process.js';
import { undoAtExit } from '../cleanup.js';
import { SmtpSession } from '../load/smtp-session.js';
import { familyCpuSeconds } from '../measure/process-memory.js';

const POSTFIX = '/usr/sbin/postfix';
const DOMAIN = 'postfix.test';
/** Debian's nobody; virtual(8) delivers as a user with an id of at least 100. */
const DELIVERY_UID = 65_534;
const DELIVERED_MS = 60_000;
const LISTENING_MS = 15_000;

/** Why Postfix cannot be set up here; null when it can. */
export function postfixObstacle(): string | null {
  if (!existsSync(POSTFIX)) return 'Postfix is not installed (apt-get install postfix)';
  if (process.getuid?.() !== 0) return 'Postfix can only be started by root';
  return null;
}

export interface PostfixOptions {
  /** Settings of main.cf besides its own; with `smtpd_tls_security_level` it runs what TLS needs. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Where its folder is made; others than root must be able to pass through. */
  readonly parent?: string;
}

/**
 * A Postfix for the bench alone: configuration, queue and maildir in a temporary directory, on a loopback port.
 * Everything that is not set here is Postfix's default, including its flushes to disk.
 */
export class PostfixPeer {
  readonly port: number;
  readonly recipient = `agent@${DOMAIN}`;
  readonly #folder: string;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #isGone: () => void;

  private constructor(folder: string, port: number, settings: Readonly<Record<string, string>>) {
    this.#folder = folder;
    this.#settings = settings;
    this.port = port;
    // Its master process is a daemon and not our child.
    this.#isGone = undoAtExit(() => this.#stopNow());
  }

  static async start({ settings = {}, parent = tmpdir() }: PostfixOptions = {}): Promise<PostfixPeer> {
    const folder = mkdtempSync(join(parent, 'bench-postfix-'));
    const peer = new PostfixPeer(folder, await freePort(), settings);
    try {
      peer.#writeFolder();
      await promisify(execFile)(POSTFIX, ['-c', peer.#config, 'start'], { timeout: LISTENING_MS });
      await peer.#untilListening();
      return peer;
    } catch (error) {
      await peer.stop();
      throw error;
    }
  }

  /** Messages in the maildir. */
  delivered(): number {
    const arrived = join(this.#maildir, 'new');
    return existsSync(arrived) ? readdirSync(arrived).length : 0;
  }

  /** The messages in the maildir, in no order: with LF line ends, and trace fields at the top. */
  messages(): Buffer[] {
    const arrived = join(this.#maildir, 'new');
    return existsSync(arrived) ? readdirSync(arrived).map(name => readFileSync(join(arrived, name))) : [];
  }

  async untilDelivered(count: number): Promise<void> {
    const deadline = Date.now() + DELIVERED_MS;
    while (this.delivered() < count) {
      if (Date.now() > deadline) throw new Error(`Postfix delivered ${this.delivered()} of ${count}`);
      await delay(20);
    }
  }

  /** Resolves when every message that was accepted has been delivered. */
  async untilIdle(): Promise<void> {
    const deadline = Date.now() + DELIVERED_MS;
    while (this.isBusy()) {
      if (Date.now() > deadline) throw new Error('Postfix does not deliver what it accepted');
      await delay(20);
    }
  }

  /** Processor time of all its processes so far, in seconds. */
  cpuSeconds(): number {
    const pid = Number(readFileSync(join(this.#folder, 'queue', 'pid', 'master.pid'), 'utf8'));
    return familyCpuSeconds(pid);
  }

  async stop(): Promise<void> {
    this.#isGone();
    this.#stopNow();
  }

  #stopNow(): void {
    // A failure means that it was not running, which is fine.
    spawnSync(POSTFIX, ['-c', this.#config, 'stop'], { timeout: LISTENING_MS, stdio: 'ignore' });
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  get #config(): string {
    return join(this.#folder, 'config');
  }

  get #maildir(): string {
    return join(this.#folder, 'mail', DOMAIN, 'agent');
  }

  /** Is a message in its queue? */
  isBusy(): boolean {
    return ['maildrop', 'incoming', 'active', 'deferred'].some(queue =>
      readdirSync(join(this.#folder, 'queue', queue), { recursive: true, withFileTypes: true }).some(entry =>
        entry.isFile(),
      ),
    );
  }

  #writeFolder(): void {
    // Delivery as nobody has to pass through.
    chmodSync(this.#folder, 0o755);
    for (const name of ['config', 'queue', 'mail']) mkdirSync(join(this.#folder, name), { mode: 0o755 });
    mkdirSync(join(this.#folder, 'mail', DOMAIN), { mode: 0o755 });
    for (const name of ['mail', `mail/${DOMAIN}`]) {
      chownSync(join(this.#folder, name), DELIVERY_UID, DELIVERY_UID);
    }
    mkdirSync(join(this.#folder, 'data'));
    chownSync(join(this.#folder, 'data'), ownerUid(), 0);
    writeFileSync(join(this.#config, 'main.cf'), this.#mainCf());
    writeFileSync(join(this.#config, 'master.cf'), this.#masterCf());
  }

  #mainCf(): string {
    const settings = {
      compatibility_level: '3.6',
      queue_directory: join(this.#folder, 'queue'),
      data_directory: join(this.#folder, 'data'),
      myhostname: 'postfix.bench.test',
      mydestination: '',
      inet_interfaces: 'loopback-only',
      inet_protocols: 'ipv4',
      mynetworks: '127.0.0.0/8',
      alias_maps: '',
      local_recipient_maps: '',
      virtual_mailbox_domains: DOMAIN,
      virtual_mailbox_base: join(this.#folder, 'mail'),
      virtual_mailbox_maps: `static:${DOMAIN}/agent/`,
      virtual_transport: 'virtual',
      virtual_uid_maps: `static:${DELIVERY_UID}`,
      virtual_gid_maps: `static:${DELIVERY_UID}`,
      ...this.#settings,
    };
    return Object.entries(settings)
      .map(([name, value]) => `${name} = ${value}\n`)
      .join('');
  }

  /** The services of Debian's master.cf that this path uses, with its limits; chroot is off. */
  #masterCf(): string {
    const services = [
      `127.0.0.1:${this.port} inet n - n - - smtpd`,
      'cleanup unix n - n - 0 cleanup',
      'qmgr unix n - n 300 1 qmgr',
      'rewrite unix - - n - - trivial-rewrite',
      'bounce unix - - n - 0 bounce',
      'defer unix - - n - 0 bounce',
      'trace unix - - n - 0 bounce',
      'verify unix - - n - 1 verify',
      'proxymap unix - - n - - proxymap',
      'proxywrite unix - - n - 1 proxymap',
      'anvil unix - - n - 1 anvil',
      'scache unix - - n - 1 scache',
      'error unix - - n - - error',
      'retry unix - - n - - error',
      'smtp unix - - n - - smtp',
      'discard unix - - n - - discard',
      'virtual unix - n n - - virtual',
      'postlog unix-dgram n - n - 1 postlogd',
    ];
    if ('smtpd_tls_security_level' in this.#settings) services.push('tlsmgr unix - - n 1000? 1 tlsmgr');
    return `${services.join('\n')}\n`;
  }

  async #untilListening(): Promise<void> {
    const deadline = Date.now() + LISTENING_MS;
    for (;;) {
      try {
        const session = await SmtpSession.open(this.port);
        await session.close();
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await delay(50);
      }
    }
  }
}

/** The user that Postfix's daemons run as (`mail_owner`). */
function ownerUid(): number {
  return Number(execFileSync('id', ['-u', 'postfix'], { encoding: 'utf8' }));
}
