import { chmodSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { Test } from 'tap';
import { certificateTools } from '../../../src/app/certificate-tools.js';
import { memoryNeeds } from '../../../src/app/memory.js';
import { openIndex } from '../../../src/app/open-index.js';
import { outside } from '../../../src/app/outside.js';
import type { Finding } from '../../../src/cli/doctor/finding.js';
import { runCli } from '../../../src/cli/program.js';
import type { ClockReading } from '../../../src/domain/clock.js';
import { readClock } from '../../../src/ops/read-clock.js';
import { putMeta } from '../../../src/store/engine/meta.js';
import type { Store } from '../../../src/store/engine/store.js';
import { ensureDkimKeys } from '../../../src/usecases/dkim/keys.js';
import { DOMAIN, PosternBox } from '../box/postern-box.js';
import { openStore } from '../box/store-facts.js';
import { makeChain } from '../certificate.js';
import { type DnsServer, startDnsServer, type ZoneEntry } from '../dns/dns-server.js';
import { temporaryFolder } from '../redis/redis.js';

export const HOST = `mx.${DOMAIN}`;

/** What is different in one look. */
export interface Look {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly nodeVersion?: string;
  readonly readClock?: () => ClockReading;
}

/**
 * A daemon with nothing wrong: certificate with its chain, records in the DNS, mail servers elsewhere that greet, a
 * backup. Where systemd is asked, two programs answer that stand first in PATH: tests run where it does not.
 */
export class DoctorBox {
  readonly box: PosternBox;
  readonly dns: DnsServer;
  readonly folder: string;
  readonly configFile: string;
  /** The records as they should be, by name. */
  readonly zones = new Map<string, ZoneEntry>();
  readonly #programs: string;

  private constructor(box: PosternBox, dns: DnsServer, folder: string, programs: string) {
    this.box = box;
    this.dns = dns;
    this.folder = folder;
    this.#programs = programs;
    this.configFile = join(folder, 'postern.toml');
  }

  /** @param env settings besides */
  static async start(t: Test, env: Readonly<Record<string, string>> = {}): Promise<DoctorBox> {
    const folder = temporaryFolder(t);
    const dns = await startDnsServer(t, { 'far.test': { A: ['127.0.0.1'] } });
    const far = await greeter(t, '220 far.test ESMTP');
    const certificate = makeChain(folder, `DNS:${HOST}`, 90);
    chmodSync(certificate.keyFile, 0o600);
    const box = PosternBox.create(t, {
      env: {
        POSTERN_SMTP_TLS_CERT: certificate.certFile,
        POSTERN_SMTP_TLS_KEY: certificate.keyFile,
        POSTERN_RELAY_TRANSPORT: 'direct',
        POSTERN_RELAY_DIRECT_PORT: String(far),
        POSTERN_RELAY_DIRECT_SOURCE_ADDRESS: '127.0.0.1',
        POSTERN_RELAY_DIRECT_ALLOW_NETWORKS: '127.0.0.0/8',
        POSTERN_RELAY_DIRECT_IPV6: 'off',
        POSTERN_DNS_SERVERS: dns.address,
        ...env,
      },
    });
    await box.start();
    const doctor = new DoctorBox(box, dns, folder, temporaryFolder(t));
    writeFileSync(doctor.configFile, '', { mode: 0o600 });
    doctor.unitSays({});
    doctor.timeSays('yes');
    await doctor.withStore(async store => {
      await ensureDkimKeys({ store, clock: Date.now, maxQueuedMs: 1 }, DOMAIN);
      await doctor.backedUp(store, Date.now());
    });
    await doctor.publish();
    return doctor;
  }

  /** What `systemctl show` says besides what it says of a unit with which nothing is wrong. */
  unitSays(facts: Readonly<Record<string, string>>): void {
    const all = {
      LoadState: 'loaded',
      UnitFileState: 'enabled',
      ActiveState: 'active',
      NeedDaemonReload: 'no',
      NRestarts: '0',
      Type: 'notify',
      MemoryHigh: 'infinity',
      ...facts,
    };
    this.#program(
      'systemctl',
      Object.entries(all).map(([name, value]) => `${name}=${value}`),
    );
  }

  timeSays(isSynchronised: 'yes' | 'no'): void {
    this.#program('timedatectl', [isSynchronised]);
  }

  backedUp(store: Store, at: number): Promise<void> {
    const backup = { snapshotAt: at, finishedAt: at, path: '/backup', bytes: 1 };
    return store.write(writer => putMeta(writer, 'lastBackup', backup));
  }

  async withStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
    const store = openStore(this.box);
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  /** Every record that is wanted, as an operator would publish what `postern dns` prints. */
  async publish(): Promise<void> {
    const { records } = JSON.parse((await this.run(['--json', 'dns'])).out) as {
      records: { name: string; type: string; value: string }[];
    };
    for (const { name, type, value } of records) {
      const entry = this.zones.get(name) ?? {};
      const [preference = '', exchange = ''] = value.split(' ');
      const known = (entry as Record<string, readonly unknown[]>)[type] ?? [];
      const one = type === 'MX' ? [Number(preference), exchange] : value;
      this.zones.set(name, { ...entry, [type]: [...known, one] });
    }
    this.restore();
  }

  restore(): void {
    for (const [name, entry] of this.zones) this.dns.set(name, entry);
  }

  /** What the doctor finds; its exit code. */
  async look(look: Look = {}): Promise<{ readonly code: number; readonly findings: readonly Finding[] }> {
    const { code, out, err } = await this.run(['--json', 'doctor', '--try', 'far.test'], look);
    const document = (out === '' ? JSON.parse(err).error.details : JSON.parse(out)) as {
      findings: Finding[];
    };
    return { code, findings: document.findings };
  }

  async run(args: readonly string[], { env, nodeVersion, readClock: clock }: Look = {}) {
    const own = Object.entries(this.box.env).filter(([name]) => name.startsWith('POSTERN_'));
    const all = {
      ...Object.fromEntries(own),
      PATH: `${this.#programs}:${process.env.PATH}`,
      POSTERN_SMTP_PORT: String(this.box.smtpPort),
      POSTERN_HTTP_PORT: String(this.box.httpPort),
      POSTERN_SERVICE_PUBLIC_URL: `http://127.0.0.1:${this.box.httpPort}`,
      ...env,
    };
    let out = '';
    let err = '';
    const code = await runCli(['--config', this.configFile, ...args], {
      serve: () => Promise.reject(new Error('no daemon is wanted here')),
      memoryNeeds: async config => memoryNeeds(config),
      version: '1.2.3',
      // Newer than any that is known to end.
      nodeVersion: nodeVersion ?? 'v998.0.0',
      readClock: clock ?? readClock,
      outside: async () => outside,
      certificates: async () => certificateTools,
      openIndex,
      stdin: async function* () {},
      terminals: { stdout: false, stderr: false },
      stdout: async data => {
        out += String(data);
      },
      stderr: async data => {
        err += String(data);
      },
      env: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
      cwd: this.folder,
    });
    return { code, out, err };
  }

  #program(name: string, lines: readonly string[]): void {
    const file = join(this.#programs, name);
    writeFileSync(file, `#!/bin/sh\ncat <<'END'\n${lines.join('\n')}\nEND\n`);
    chmodSync(file, 0o755);
  }
}

/** A server on loopback that greets so. @returns its port */
export async function greeter(t: Test, greeting: string): Promise<number> {
  const server: Server = createServer(socket => {
    socket.on('error', () => undefined);
    socket.write(`${greeting}\r\n`);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
