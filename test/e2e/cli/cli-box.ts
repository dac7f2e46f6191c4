import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { certificateTools } from '../../../src/app/certificate-tools.js';
import { openIndex } from '../../../src/app/open-index.js';
import { outside } from '../../../src/app/outside.js';
import { type CliDependencies, runCli, type ServeOptions } from '../../../src/cli/program.js';
import type { MessageId } from '../../../src/domain/ids.js';
import { readClock } from '../../../src/ops/read-clock.js';
import type { Store } from '../../../src/store/engine/store.js';
import { openMigratedStore } from '../../../src/store/open-store.js';
import { BlobUploads } from '../../../src/store/records/blob-upload.js';
import { createInboundMail } from '../../../src/usecases/inbound/accept-message.js';
import { indexMessage } from '../../../src/usecases/inbound/index-message.js';
import { type PreparedContent, SILENT } from '../../../src/usecases/ports.js';

export const DOMAIN = 'agents.test';

export interface CliRun {
  readonly code: number;
  readonly stdout: Buffer;
  readonly out: string;
  readonly err: string;
}

export interface CliBoxOptions {
  /** Run `init` first; without it there is a configuration, but no store. */
  readonly isInitialised?: boolean;
  readonly serve?: (options: ServeOptions) => Promise<number>;
  /** Lines of TOML besides the box's own. */
  readonly settings?: string;
}

/**
 * The command line in this process, over a folder of its own:
 *
 *     const box = await cliBox(t);
 *     const { account_id } = await box.json('account', 'create', 'ada@example.org');
 *     const run = await box.run('account', 'show', account_id);    // {code, out, err}
 */
export class CliBox {
  readonly folder: string;
  readonly configFile: string;
  readonly dataDir: string;
  readonly env: Record<string, string> = {
    // Small, so that many tests at once do not reserve terabytes.
    POSTERN_STORE_MAP_SIZE_GIB: '0.25',
    POSTERN_STORE_DISK_FLOOR_MIB: '1',
  };
  /** What of the output is a terminal. */
  terminals = { stdout: false, stderr: false };
  readonly #serve: (options: ServeOptions) => Promise<number>;

  constructor(folder: string, serve: (options: ServeOptions) => Promise<number>) {
    this.folder = folder;
    this.configFile = join(folder, 'postern.toml');
    this.dataDir = join(folder, 'data');
    this.#serve = serve;
  }

  /** Runs `postern --config FILE ...args`. */
  run(...args: string[]): Promise<CliRun> {
    return this.runPlain('--config', this.configFile, ...args);
  }

  /** Runs `postern ...args` in the box's folder. */
  async runPlain(...args: string[]): Promise<CliRun> {
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    const deps: CliDependencies = {
      serve: this.#serve,
      memoryNeeds: async () => [{ part: 'a part', bytes: 2 ** 30 }],
      version: '1.2.3',
      readClock,
      outside: async () => outside,
      certificates: async () => certificateTools,
      openIndex,
      stdin: async function* () {},
      stdout: async data => void out.push(Buffer.from(data)),
      stderr: async data => void err.push(Buffer.from(data)),
      terminals: this.terminals,
      env: this.env,
      cwd: this.folder,
    };
    const code = await runCli(args, deps);
    const stdout = Buffer.concat(out);
    return { code, stdout, out: stdout.toString('utf8'), err: Buffer.concat(err).toString('utf8') };
  }

  /** Runs a command with `--json` that has to succeed; its document. */
  async json<Document = Record<string, string>>(...args: string[]): Promise<Document> {
    const run = await this.run('--json', ...args);
    if (run.code !== 0) throw new Error(`postern ${args.join(' ')} ended with ${run.code}: ${run.err}`);
    return JSON.parse(run.out) as Document;
  }

  /** Runs a command with `--json` that has to fail; its exit code and the error that stderr tells. */
  async failure(
    ...args: string[]
  ): Promise<{ code: number; out: string; error: { code: string; message: string } }> {
    const { code, out, err } = await this.run('--json', ...args);
    return { code, out, ...(JSON.parse(err) as { error: { code: string; message: string } }) };
  }

  /** Works on the store as the daemon does. */
  async withStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
    const store = await this.openStore();
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  openStore(): Promise<Store> {
    return openMigratedStore({ path: this.dataDir, mapSizeBytes: 2 ** 28, diskFloorBytes: 2 ** 20 });
  }

  /** Takes a message in, as SMTP would. */
  deliver(address: string, raw: string | Buffer, from = 'sender@example.net'): Promise<MessageId> {
    return this.withStore(async store => {
      const mail = createInboundMail({
        store,
        uploads: new BlobUploads(store),
        clock: Date.now,
        queue: { offer: () => {} },
        mail: { domains: [DOMAIN], postmasterInbox: null },
        limits: { storageMib: 2048 },
      });
      const recipient = mail.resolveRecipient(address);
      if (recipient === null) throw new Error(`${address} reaches no inbox`);
      const body = mail.begin();
      for (let bytes = Buffer.from(raw), at = 0; at < bytes.length; at += 50_000) {
        if (!body.write(bytes.subarray(at, at + 50_000))) await body.drained();
      }
      const envelope = {
        from,
        recipients: [recipient],
        clientAddress: '192.0.2.1',
        helo: 'mx',
      };
      const outcome = await body.commit(envelope);
      if (outcome.status !== 'accepted') throw new Error(`not accepted: ${outcome.status}`);
      return outcome.messageIds[0]!;
    });
  }

  /** Makes a message ready, as if the parser had found this content in it. */
  async prepare(
    id: MessageId,
    content: Partial<PreparedContent> & { readonly json: Uint8Array },
  ): Promise<void> {
    const prepared: PreparedContent = {
      subject: null,
      messageId: null,
      from: null,
      senders: [],
      recipients: [],
      attachments: [],
      ids: { messageId: null, references: [], inReplyTo: [] },
      report: null,
      words: '\n',
      ...content,
    };
    await this.withStore(store =>
      indexMessage(
        {
          store,
          uploads: new BlobUploads(store),
          clock: Date.now,
          parser: { parse: async () => ({ status: 'parsed', prepared }) },
          log: SILENT,
          maxTries: 3,
          startedAt: null,
        },
        id,
      ),
    );
  }
}

/** A box in a new folder, which is removed after the test. */
export async function cliBox(t: Test, options: CliBoxOptions = {}): Promise<CliBox> {
  const folder = mkdtempSync(join(tmpdir(), 'cli-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const box = new CliBox(
    folder,
    options.serve ?? (() => Promise.reject(new Error('no daemon is wanted here'))),
  );
  mkdirSync(box.dataDir);
  writeFileSync(
    box.configFile,
    `[mail]\ndomains = ["${DOMAIN}"]\n[store]\npath = "data"\n${options.settings ?? ''}`,
  );
  if (options.isInitialised !== false) await initialise(box);
  return box;
}

async function initialise(box: CliBox): Promise<void> {
  const run = await box.run('init', '--force', '--domain', DOMAIN, '--data', 'data');
  if (run.code !== 0) throw new Error(`init ended with ${run.code}: ${run.err}`);
}
