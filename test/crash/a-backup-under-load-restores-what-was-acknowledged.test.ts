import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent, type TestAgent } from '../support/box/agents.js';
import { PosternBox, packageRoot, startBox } from '../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../support/box/store-facts.js';
import { writeLetter } from '../support/letters/letters.js';
import { postSend, send, submission } from '../support/sending/sending.js';
import { deliver } from '../support/smtp/deliver.js';

/** More acknowledgements than this come before, between and after the backups. */
const SOME = 40;
/** Of chunks that a backup copies before it is killed. */
const BEGUN_BYTES = 256 * 1024;

interface BackupDocument {
  readonly snapshot_at: string;
  readonly took_s: number;
  readonly store_growth_bytes: number;
  readonly copied_blob_bytes: number;
  readonly blob_bytes: number;
  readonly snapshot_held_s: number;
}

t.test(
  'the drill: back up under full load, restore elsewhere, verify, start, and find all of it',
  async t => {
    const box = await startBox(t, { env: { POSTERN_LIMITS_SENDS: '100000' } });
    const agent = await createAgent(box);
    const folder = join(box.folder, 'backup');
    const load = new Load(box, agent);
    load.start();
    await load.more(SOME);

    await killedInTheMiddle(box, folder);
    t.notOk(existsSync(join(folder, 'manifest.json')), 'it was killed before it was whole');

    const first = await box.cliJson<BackupDocument>('backup', folder);
    await load.more(SOME);
    const last = await box.cliJson<BackupDocument>('backup', folder);
    const finishedAt = Date.now();
    await load.more(SOME);
    await load.stop();
    t.ok(last.copied_blob_bytes < last.blob_bytes, 'the second run copies what is new');
    const verified = await box.cli('verify', folder);
    t.equal(verified.code, 0, `the backup holds together as it lies: ${verified.stderr}`);
    t.match(
      readdirSync(folder).sort(),
      // The one that was killed may have come so far that its number is used up.
      ['blobs', 'manifest.json', /^snapshot-[23]$/],
      'and nothing else is left',
    );
    t.equal(readdirSync(folder).length, 3);
    t.equal(statSync(join(folder, 'manifest.json')).mode & 0o777, 0o600);
    t.equal(statSync(folder).mode & 0o777, 0o700);
    await box.stop();

    const restored = PosternBox.create(t, { env: { POSTERN_LIMITS_SENDS: '100000' } });
    const made = await restored.cli('restore', folder);
    t.equal(made.code, 0, made.stderr);
    t.match(await restored.cli('restore', folder), { code: 1, stderr: /There is a store .* not overwrite/ });
    t.match(await restored.cliJson('verify'), { sound: true }, 'the restored store is sound');
    await restored.start();
    const snapshotAt = Date.parse(last.snapshot_at);
    const looker = { ...agent, api: restored.api(agent.credential) };
    const wrong = await load.differences(looker, { snapshotAt, finishedAt });
    t.same(wrong, [], 'every acknowledged message, send, label and deletion up to the snapshot is there');

    const key = { idempotency_key: 'after-the-backup' };
    const refused = await postSend(looker, submission(agent.address, key));
    t.match([refused.status, refused.code], [503, 'outbound_unavailable'], 'nothing is sent yet');
    t.ok(restored.heard(/restored from a backup/).length > 0, 'the log says so');
    const late = await deliver(restored, agent.address, writeLetter());
    await looker.api.finished(late);
    const search = `/v1/inboxes/${agent.inboxId}/sent?query=Load&limit=1`;
    while ((await looker.api.get(search)).status === 503) await delay(50);
    const hits = (await looker.api.get(search)).json<{ messages: readonly object[] }>();
    t.equal(hits.messages.length, 1, 'the search index was made anew by itself');
    t.match(await restored.cli('restore', '--resume-sending'), { code: 0, stdout: /are sent/ });
    await send(looker, submission(agent.address, key));
    await untilFacts(restored, isAtRest);
    t.match(await restored.cliJson('verify'), { sound: true }, 'and is sound when it has worked');

    t.comment(
      `${load.acknowledged} acknowledgements; the first backup took ${first.took_s} s, the second ${last.took_s} s ` +
        `(${last.copied_blob_bytes >> 10} of ${last.blob_bytes >> 10} KiB new); the store grew by ` +
        `${first.store_growth_bytes >> 10} and ${last.store_growth_bytes >> 10} KiB meanwhile; one state was held for ` +
        `${first.snapshot_held_s} and ${last.snapshot_held_s} s`,
    );
  },
);

/** Begins a backup and ends it like a power cut once it has copied something. */
async function killedInTheMiddle(box: PosternBox, folder: string): Promise<void> {
  const script = [
    join(packageRoot, 'bin/postern'),
    '--config',
    join(box.folder, 'postern.toml'),
    'backup',
    folder,
  ];
  const child = spawn(process.execPath, script, { cwd: box.folder, env: box.env, stdio: 'ignore' });
  const blobs = join(folder, 'blobs/store/data.mdb');
  const isBegun = (): boolean => (statSync(blobs, { throwIfNoEntry: false })?.size ?? 0) > BEGUN_BYTES;
  while (child.exitCode === null && !isBegun()) await delay(1);
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  JSON.parse(readFileSync(join(folder, 'unfinished.json'), 'utf8'));
}

/** A change of one message: how it looks after it, and between which instants that became true. */
interface Step {
  readonly state: string;
  readonly askedAt: number;
  ackedAt: number;
}

const LABELS = ['alpha', 'beta', 'gamma'];

/** Mail in, sends, labels, Trash and deletions at once, and a book of what was acknowledged when. */
class Load {
  readonly #box: PosternBox;
  readonly #agent: TestAgent;
  /** Received messages, and what was done to them, in order. */
  readonly #received = new Map<string, Step[]>();
  readonly #sent = new Map<string, Step[]>();
  #isStopping = false;
  #running: Promise<unknown> = Promise.resolve();
  acknowledged = 0;

  constructor(box: PosternBox, agent: TestAgent) {
    this.#box = box;
    this.#agent = agent;
  }

  start(): void {
    const lanes = [
      () => this.#receive(),
      () => this.#receive(),
      () => this.#send(),
      () => this.#change(0),
      () => this.#change(1),
    ];
    this.#running = Promise.all(lanes.map(lane => this.#until(lane)));
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  async more(count: number): Promise<void> {
    for (const goal = this.acknowledged + count; this.acknowledged < goal; ) await delay(10);
  }

  async #until(lane: () => Promise<void>): Promise<void> {
    while (!this.#isStopping) {
      await lane();
      await delay(2);
    }
  }

  async #receive(): Promise<void> {
    const askedAt = Date.now();
    const bytes = this.acknowledged % 5 === 0 ? 300_000 : 5_000;
    const id = await deliver(this.#box, this.#agent.address, writeLetter({ bytes }));
    this.#received.set(id, [this.#step('', askedAt)]);
  }

  async #send(): Promise<void> {
    const askedAt = Date.now();
    const { message } = await send(
      this.#agent,
      submission('somebody@elsewhere.example', { subject: 'Load' }),
    );
    this.#sent.set(message.id, [this.#step('', askedAt)]);
  }

  #step(state: string, askedAt: number): Step {
    this.acknowledged += 1;
    return { state, askedAt, ackedAt: Date.now() };
  }

  /** Each lane has messages of its own. */
  async #change(lane: number): Promise<void> {
    const own = [...this.#received].filter(([id]) => Number.parseInt(id.slice(-1), 16) % 2 === lane);
    const [id, steps] = own[Math.floor(Math.random() * own.length)] ?? [];
    const before = steps?.at(-1)?.state;
    if (id === undefined || steps === undefined || before === undefined || before === 'gone') return delay(5);
    const askedAt = Date.now();
    const { api } = this.#agent;
    if (before === 'trash') {
      await api.post(`/v1/messages/${id}/restore`, {});
      steps.push(this.#step(steps.at(-2)?.state ?? '', askedAt));
    } else if (Math.random() < 0.1) {
      await api.delete(`/v1/messages/${id}`);
      steps.push(this.#step('gone', askedAt));
    } else if (Math.random() < 0.2) {
      await api.post(`/v1/messages/${id}/trash`, {});
      steps.push(this.#step('trash', askedAt));
    } else {
      const label = LABELS[Math.floor(Math.random() * LABELS.length)] ?? '';
      const remove = LABELS.filter(name => name !== label);
      const body = { message_ids: [id], add_labels: [label], remove_labels: remove };
      const answer = await api.request('PATCH', '/v1/messages/labels', { body });
      if (answer.status !== 200) throw new Error(`labels: ${answer.status} ${answer.bytes.toString()}`);
      steps.push(this.#step(label, askedAt));
    }
  }

  /**
   * What of the book is not in the restored store. The snapshot was taken between two instants: of what was under way
   * then, either outcome is right.
   */
  async differences(
    { api }: Pick<TestAgent, 'api'>,
    { snapshotAt, finishedAt }: { readonly snapshotAt: number; readonly finishedAt: number },
  ): Promise<string[]> {
    const wrong: string[] = [];
    const look = async (path: string): Promise<string> => {
      const answer = await api.get(path);
      if (answer.status === 404) return 'absent';
      const labels = answer.json<{ labels: readonly string[] }>().labels;
      return labels.filter(name => LABELS.includes(name)).join(' ');
    };
    for (const [book, path] of [
      [this.#received, '/v1/messages'],
      [this.#sent, '/v1/sent'],
    ] as const) {
      for (const [id, steps] of book) {
        const certain = steps.filter(({ ackedAt }) => ackedAt <= snapshotAt).at(-1);
        const open = steps.filter(({ askedAt, ackedAt }) => ackedAt > snapshotAt && askedAt < finishedAt);
        const allowed = [certain?.state ?? 'absent', ...open.map(({ state }) => state)].map(state =>
          state === 'gone' || state === 'trash' ? 'absent' : state,
        );
        const seen = await look(`${path}/${id}`);
        if (!allowed.includes(seen)) wrong.push(`${path}/${id}: "${seen}", not "${allowed.join('" or "')}"`);
      }
    }
    return wrong;
  }
}
