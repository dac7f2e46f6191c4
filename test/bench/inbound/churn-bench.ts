import { ApiClient } from '../../support/box/api-client.js';
import type { Appliance } from '../appliance.js';
import { type Bench, type BenchContext, withAppliance } from '../bench.js';
import { FARED_COLUMNS, faredCells } from '../fared-cells.js';
import { type BodyKind, buildMessage } from '../load/bodies.js';
import { SmtpSession } from '../load/smtp-session.js';
import { compare, type Report } from '../measure/report.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const TURNS = 10;
/** On a slow machine the bench ends earlier, and the report says so. */
const LONGEST_S = 75;
const SENDERS = 20;
/** As in real mail, half of the messages are short and most of the bytes are attachments. */
const MIX: readonly (readonly [BodyKind, bytes: number, messages: number])[] = [
  ['text', 4 * KIB, 5],
  ['attachment', 75 * KIB, 4],
  ['attachment', 400 * KIB, 1],
];

/** LMDB reuses freed pages but never shrinks its file. Does the file stay near the size of its content? */
export const churnBench: Bench = {
  name: 'churn',
  title: `a mailbox whose mail is replaced ${TURNS} times, delivered over SMTP and deleted over HTTP`,
  run: context => withAppliance(appliance => measure(context, appliance)),
};

async function measure({ isQuick }: BenchContext, appliance: Appliance): Promise<Report> {
  const mailboxBytes = (isQuick ? 10 : 100) * MIB;
  const churn = new Churn(appliance);
  const endWatch = appliance.watch();
  const rows: string[][] = [];
  const note = (name: string): number => {
    const live = appliance.liveBytes();
    const disk = appliance.diskBytes();
    rows.push([name, mib(churn.sentBytes), mib(live), mib(disk), (disk / live).toFixed(3)]);
    return disk / live;
  };
  const startedAt = performance.now();
  await churn.fill(mailboxBytes);
  note('filled');
  let ratio = Number.NaN;
  let turn = 0;
  let seconds = 0;
  while (turn < TURNS && seconds < LONGEST_S) {
    await churn.replace(mailboxBytes);
    turn += 1;
    ratio = note(`replaced ${turn}x`);
    seconds = (performance.now() - startedAt) / 1000;
  }
  rows.at(-1)?.push(...faredCells([await endWatch()]));
  await churn.close();
  return {
    columns: ['', 'sent MiB', 'live MiB', 'disk MiB', 'disk/live', ...FARED_COLUMNS],
    rows,
    notes: [
      `${churn.sent} messages, ${(churn.sentBytes / MIB / seconds).toFixed(0)} MiB/s with parsing and deletion`,
      'live: raw messages, decoded attachments and contents, without keys, records and indexes',
      'what was deleted counts until the sweeper, which looks every few seconds, has freed it',
      'disk: what the file system gave to the store; memory and loop are those of the whole time',
    ],
    comparisons: [
      compare(`disk to live bytes after ${turn}x churn`, ratio, { atMost: 1.25 }, { unit: '', digits: 3 }),
    ],
  };
}

/** Adds new mail and deletes the oldest. */
class Churn {
  sent = 0;
  sentBytes = 0;
  readonly #appliance: Appliance;
  readonly #api: ApiClient;
  /** Ids, oldest first. */
  readonly #live: string[] = [];
  readonly #wires = MIX.flatMap(([kind, bytes, messages]) =>
    Array.from({ length: messages }, () => buildMessage(kind, bytes)),
  );
  #sessions: readonly SmtpSession[] = [];

  constructor(appliance: Appliance) {
    this.#appliance = appliance;
    this.#api = new ApiClient(() => appliance.httpPort, appliance.credential);
  }

  fill(bytes: number): Promise<void> {
    return this.#inSteps(bytes, id => {
      this.#live.push(id);
      return Promise.resolve();
    });
  }

  replace(bytes: number): Promise<void> {
    return this.#inSteps(bytes, async id => {
      this.#live.push(id);
      const oldest = this.#live.shift();
      if (oldest === undefined) return;
      const { status } = await this.#api.delete(`/v1/messages/${oldest}`);
      if (status !== 202) throw new Error(`DELETE answers ${status}`);
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#sessions.map(session => session.close()));
  }

  /** Waits for parsing, so that deleted mail has been stored completely before. */
  async #inSteps(bytes: number, then: (id: string) => Promise<void>): Promise<void> {
    const { smtpPort, recipient } = this.#appliance;
    if (this.#sessions.length === 0) {
      this.#sessions = await Promise.all(Array.from({ length: SENDERS }, () => SmtpSession.open(smtpPort)));
    }
    const endsAt = this.sentBytes + bytes;
    const step = bytes / 5;
    while (this.sentBytes < endsAt) {
      const stepEndsAt = Math.min(endsAt, this.sentBytes + step);
      const keepSending = async (session: SmtpSession): Promise<void> => {
        while (this.sentBytes < stepEndsAt) {
          const wire = this.#wires[this.sent++ % this.#wires.length] ?? Buffer.alloc(0);
          this.sentBytes += wire.length;
          await then(await session.deliver(recipient, wire));
        }
      };
      await Promise.all(this.#sessions.map(keepSending));
      await this.#appliance.untilAllSettled();
    }
  }
}

function mib(bytes: number): string {
  return (bytes / MIB).toFixed(0);
}
