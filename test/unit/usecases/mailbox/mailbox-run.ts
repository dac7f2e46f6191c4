import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { VERDICTS } from '../../../../src/contract/authentication.js';
import type { LabelList } from '../../../../src/contract/labels.js';
import type { TrashPage } from '../../../../src/contract/trash.js';
import { NOT_CHECKED } from '../../../../src/domain/authentication.js';
import { resultOf } from '../../../../src/domain/errors.js';
import type { AccountId, InboxId, MessageId } from '../../../../src/domain/ids.js';
import { applyLabelChange, normaliseLabelChange } from '../../../../src/domain/labels.js';
import { type MessageFilter, normaliseFilter } from '../../../../src/domain/message-filter.js';
import { BLOCK_BITS } from '../../../../src/store/bitmap/bit-block.js';
import { folderCountersTable } from '../../../../src/store/mailbox/folders.js';
import { addPosting } from '../../../../src/store/mailbox/postings.js';
import { openMigratedStore } from '../../../../src/store/open-store.js';
import { reparseMessage } from '../../../../src/usecases/inbound/index-message.js';
import { recheckMessage } from '../../../../src/usecases/inbound/recheck-message.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import {
  changeLabels,
  changeLabelsInBatch,
  deleteMessage,
  restoreMessage,
  trashMessage,
} from '../../../../src/usecases/mailbox/change-messages.js';
import { type CountInput, countMessages } from '../../../../src/usecases/mailbox/count-messages.js';
import { listLabels } from '../../../../src/usecases/mailbox/list-labels.js';
import { listMessages, type MessagePage } from '../../../../src/usecases/mailbox/list-messages.js';
import { listTrash } from '../../../../src/usecases/mailbox/list-trash.js';
import { getMessageDetail } from '../../../../src/usecases/mailbox/read-message.js';
import { readFacts } from '../../../support/box/store-facts.js';
import { must, outcomeOf } from '../../../support/use-cases.js';
import { storeOptions } from '../../store/with-store.js';
import { type House, houseOn, inNameOf } from '../with-house.js';
import { gaveUp, index, parsed } from '../with-parser.js';
import { MailboxModel, type ModelMessage } from './mailbox-model.js';
import { ADDRESSES, LABELS, type Question, type Step } from './mailbox-steps.js';

const START_MS = Date.UTC(2026, 0, 15, 12);

export interface RunOptions {
  readonly path: string;
  /** The inbox once held so many messages that what comes now begins a new block of the sets. */
  readonly isAged: boolean;
}

/** One run of steps over a store and over the model, compared as it goes. Throws where they differ. */
export async function runSteps(steps: readonly Step[], options: RunOptions): Promise<void> {
  const run = new MailboxRun(options);
  try {
    await run.begin();
    for (const step of steps) await run.take(step);
    await run.end();
  } finally {
    await run.house.store.close();
    await rm(options.path, { recursive: true, force: true });
  }
}

class MailboxRun {
  house!: House;
  readonly #options: RunOptions;
  readonly #model = new MailboxModel();
  readonly #now = { ms: START_MS };
  readonly #ids: MessageId[] = [];
  readonly #inboxes: InboxId[] = [];
  #stranger!: AccountId;
  #made = 0;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  async begin(): Promise<void> {
    const house = await this.#open();
    this.house = inNameOf(house, await house.addAccount('owner@elsewhere.example'));
    this.#stranger = await house.addAccount('stranger@elsewhere.example');
    for (const slot of [0, 1]) await this.#makeInbox(slot);
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'deliver':
        return this.#deliver(step.slots);
      case 'publish':
      case 'fail':
        return this.#finish(step);
      case 'recheck':
        return this.#recheck(step);
      case 'reparse':
        return this.#reparse(step.pick);
      case 'label':
        return this.#label(step);
      case 'batch':
        return this.#batch(step);
      case 'trash':
      case 'restore':
      case 'delete':
        return this.#move(step);
      case 'wait':
        this.#now.ms += step.ms;
        return;
      case 'sweep':
        await this.house.sweepAll();
        this.#model.erase(({ trash }) => trash !== null && trash.until <= this.#now.ms);
        return;
      case 'deleteInbox':
        return this.#deleteInbox(step.slot);
      case 'reopen': {
        await this.house.store.close();
        this.house = inNameOf(await this.#open(), this.house.account);
        return;
      }
      case 'ask':
        return this.#ask(step.question);
    }
  }

  /** What was not asked in the course of the run, and whether the store's tables agree with one another. */
  async end(): Promise<void> {
    const plain = {
      from: null,
      recipient: null,
      subject: null,
      authentication: null,
      after: null,
      before: null,
      limits: [3, 100],
    };
    for (const label of [null, ...LABELS]) {
      const all = label === null ? [] : [label];
      await this.#ask({ ...plain, all, any: [], none: [], order: 'newest', prefix: '' });
      await this.#ask({ ...plain, all: [], any: [], none: all, order: 'oldest', prefix: label ?? '' });
    }
    for (const authentication of VERDICTS) {
      await this.#ask({ ...plain, authentication, all: [], any: [], none: [], order: 'newest', prefix: '' });
    }
    const open = { ...plain, all: [], any: [], none: [], order: 'newest' as const, prefix: '' };
    for (const address of ADDRESSES) {
      await this.#ask({ ...open, from: address });
      await this.#ask({ ...open, recipient: address });
    }
    for (const id of this.#ids) await this.#compareDetail(id);
    assert.deepEqual(readFacts(this.house.store).faults, []);
  }

  async #open() {
    return houseOn(await openMigratedStore(storeOptions(this.#options.path)), this.#now, 1_000);
  }

  async #makeInbox(slot: number): Promise<void> {
    const inboxId = await this.house.addInbox(`inbox${this.#made++}`);
    this.#inboxes[slot] = inboxId;
    if (this.#options.isAged && slot === 0) await this.#age(inboxId);
  }

  /** As if all but a few of a block's numbers had been given and their messages deleted. */
  #age(inboxId: InboxId): Promise<void> {
    const mailbox = { inboxId, kind: 'received' } as const;
    const nextSeq = BLOCK_BITS - 4;
    return this.house.store.write(writer => {
      for (let seq = 1; seq < nextSeq; seq++) addPosting(writer, mailbox, { type: 'gone' }, seq);
      writer.put(folderCountersTable, mailbox, { nextSeq, live: 0, lastAt: 0, version: 0, bytes: 0 });
    });
  }

  #picked(pick: number): MessageId {
    // One that never was, as long as there is none.
    return this.#ids[pick % Math.max(1, this.#ids.length)] ?? ('0'.repeat(36) as MessageId);
  }

  #caller(isStranger: boolean): AccountId {
    return isStranger ? this.#stranger : this.house.account;
  }

  async #deliver(slots: readonly number[]): Promise<void> {
    const inboxes = slots.map(slot => this.#inboxes[slot]!);
    const outcome = await this.house.accept('raw', ...inboxes);
    assert.equal(outcome.status, 'accepted');
    if (outcome.status !== 'accepted') return;
    for (const [at, id] of outcome.messageIds.entries()) {
      this.#ids.push(id);
      this.#model.deliver(id, inboxes[at]!, this.#now.ms);
    }
  }

  async #finish(step: Extract<Step, { kind: 'publish' | 'fail' }>): Promise<void> {
    const id = this.#picked(step.pick);
    const message = this.#model.messages.find(candidate => candidate.id === id);
    if (step.kind === 'fail') {
      await index(this.house, id, gaveUp('timeout'));
      if (message?.status === 'pending') message.status = 'failed';
      return;
    }
    const { senders, recipients, subject, verdict } = step;
    const authentication = verdict === null ? null : { ...NOT_CHECKED, verdict };
    await index(this.house, id, parsed({}, { senders, recipients, subject, authentication }));
    if (message?.status === 'pending') {
      // What was found out before it was parsed again stays.
      message.verdict = message.checked === null ? (verdict ?? 'unknown') : message.checked;
      message.checked = null;
      Object.assign(message, { status: 'ready', senders, recipients, subject });
    }
  }

  async #reparse(pick: number): Promise<void> {
    const id = this.#picked(pick);
    const message = this.#model.anywhere(id, this.#now.ms);
    const result = await outcomeOf(() => reparseMessage(this.house, id));
    assert.equal(result.ok, message !== undefined);
    if (message === undefined) return;
    if (message.status !== 'pending')
      message.checked = message.verdict === 'unknown' ? null : message.verdict;
    Object.assign(message, {
      status: 'pending',
      senders: [],
      recipients: [],
      subject: null,
      verdict: 'unknown',
    });
  }

  /** DNS answers, or not, whether a look is due or not: only what is unknown is looked at again, three times at most. */
  async #recheck({ pick, verdict }: Extract<Step, { kind: 'recheck' }>): Promise<void> {
    const id = this.#picked(pick);
    const message = this.#model.messages.find(candidate => candidate.id === id);
    const isOwed = this.house.message(id)?.recheck != null;
    const authenticator = { check: async () => ({ ...NOT_CHECKED, verdict }) };
    await recheckMessage({ ...this.house, authenticator, isStopping: () => false }, id);
    if (isOwed) message!.verdict = verdict;
  }

  async #label(step: Extract<Step, { kind: 'label' }>): Promise<void> {
    const id = this.#picked(step.pick);
    const addLabels = step.change.add;
    const removeLabels = step.change.remove;
    const accountId = this.#caller(step.isStranger);
    const input = { accountId, messageId: id, add_labels: addLabels, remove_labels: removeLabels };
    const result = await outcomeOf(() => changeLabels(this.house, { ...input, kind: 'received' }));
    const change = resultOf(() => normaliseLabelChange(addLabels, removeLabels));
    if (!change.ok) return assert.deepEqual(result, change);
    const message = step.isStranger ? undefined : this.#model.live(id);
    if (message === undefined) return assertMissing(result);
    message.labels = new Set(applyLabelChange([...message.labels], change.value));
    assert.deepEqual(must(result), { id, labels: [...message.labels] });
  }

  async #batch(step: Extract<Step, { kind: 'batch' }>): Promise<void> {
    const ids = step.picks.map(pick => this.#picked(pick));
    const { add: addLabels, remove: removeLabels } = step.change;
    const accountId = this.#caller(step.isStranger);
    const input = { accountId, message_ids: ids, add_labels: addLabels, remove_labels: removeLabels };
    const result = await outcomeOf(() => changeLabelsInBatch(this.house, { ...input, kind: 'received' }));
    const change = resultOf(() => normaliseLabelChange(addLabels, removeLabels));
    if (!ids.every(id => /-/.test(id))) {
      return assert.ok(!result.ok && result.failure.code === 'invalid_message_ids');
    }
    if (!change.ok) return assert.deepEqual(result, change);
    const targets = [...new Set(ids)].map(id => (step.isStranger ? undefined : this.#model.live(id)));
    if (targets.includes(undefined)) return assertMissing(result);
    const expected = (targets as ModelMessage[]).map(message => {
      message.labels = new Set(applyLabelChange([...message.labels], change.value));
      return { id: message.id, labels: [...message.labels] };
    });
    assert.deepEqual(must(result), expected);
  }

  async #move(step: Extract<Step, { kind: 'trash' | 'restore' | 'delete' }>): Promise<void> {
    const id = this.#picked(step.pick);
    const input = { accountId: this.#caller(step.isStranger), messageId: id };
    const message = step.isStranger ? undefined : this.#model.anywhere(id, this.#now.ms);
    if (step.kind === 'trash') {
      const result = await outcomeOf(() => trashMessage(this.house, { ...input, kind: 'received' }));
      if (message === undefined) return assertMissing(result);
      const status = message.trash === null ? 'trashed' : 'already_trashed';
      this.#model.trash(message, this.#now.ms);
      const { trash } = message;
      const [deleted_at, restorable_until] = [trash!.deletedAt, trash!.until].map(toIso);
      assert.deepEqual(must(result), {
        id,
        inbox_id: message.inboxId,
        status,
        deleted_at,
        restorable_until,
      });
    } else if (step.kind === 'restore') {
      const result = await outcomeOf(() => restoreMessage(this.house, { ...input, kind: 'received' }));
      if (message === undefined) return assertMissing(result);
      assert.equal(must(result).status, message.trash === null ? 'already_live' : 'restored');
      message.trash = null;
    } else {
      const result = await outcomeOf(() => deleteMessage(this.house, { ...input, kind: 'received' }));
      if (message === undefined) return assertMissing(result);
      assert.equal(must(result).status, 'deletion_pending');
      this.#model.erase(candidate => candidate === message);
    }
  }

  async #deleteInbox(slot: number): Promise<void> {
    const inboxId = this.#inboxes[slot]!;
    await deleteInbox(this.house, { accountId: this.house.account, inboxId });
    this.#model.erase(message => message.inboxId === inboxId);
    const input = { accountId: this.house.account, inboxId, limit: 1, cursor: null };
    assertMissing(resultOf(() => listLabels(this.house, { ...input, prefix: '' })));
    assertMissing(resultOf(() => listTrash(this.house, input)));
    await this.#makeInbox(slot);
  }

  /** Lists, counts, labels in use and Trash of each inbox, walked page by page. */
  async #ask(question: Question): Promise<void> {
    const filter = this.#filterOf(question);
    if (filter === null) return;
    const { order, prefix } = question;
    for (const inboxId of this.#inboxes) {
      const input: CountInput = { accountId: this.house.account, inboxId, kind: 'received', filter };
      const expected = this.#model.list(inboxId, filter, order);
      const listed = walk(question.limits, (limit, cursor) => {
        const page: MessagePage = listMessages(this.house, { ...input, order, limit, cursor });
        return { items: page.summaries.map(readSummary), next: page.nextCursor };
      });
      assert.deepEqual(
        listed.map(({ id }) => id),
        expected,
      );
      for (const summary of listed) this.#compareSummary(summary);
      assert.equal(await countMessages(this.house, input), expected.length);
      const inUse = walk(question.limits, (limit, cursor) => {
        const page: LabelList = listLabels(this.house, { ...input, prefix, limit, cursor });
        return { items: page.labels, next: page.next_cursor };
      });
      assert.deepEqual(inUse, this.#model.labels(inboxId, prefix));
      const trash = walk(
        question.limits,
        (limit, cursor) => {
          const page: TrashPage = listTrash(this.house, { ...input, limit, cursor });
          return { items: page.messages, next: page.next_cursor };
        },
        { mayBeShort: true },
      );
      assert.deepEqual(
        trash.map(entry => [entry.id, entry.deleted_at, entry.restorable_until, entry.subject]),
        this.#model
          .trashOf(inboxId, this.#now.ms)
          .map(({ id, trash: place, subject }) => [
            id,
            toIso(place?.deletedAt ?? 0),
            toIso(place?.until ?? 0),
            subject,
          ]),
      );
    }
    if (this.#ids.length > 0) await this.#compareDetail(this.#picked(question.limits.length * 7));
  }

  #filterOf(question: Question): MessageFilter | null {
    const { all, any, none } = question;
    const given = (['from', 'recipient', 'subject', 'authentication'] as const).flatMap(name => {
      const value = question[name];
      return value === null ? [] : [[name, value]];
    });
    const normalised = normaliseFilter({ all, any, none }, Object.fromEntries(given));
    const instantOf = (bound: Question['after']): number | null => {
      if (bound === null) return null;
      const id = this.#picked(bound.pick);
      const message = this.#model.messages.find(candidate => candidate.id === id);
      return (message?.receivedAt ?? this.#now.ms) + bound.shift;
    };
    const [after, before] = [instantOf(question.after), instantOf(question.before)];
    return after !== null && before !== null && after >= before ? null : { ...normalised, after, before };
  }

  #compareSummary(summary: Summary): void {
    const message = this.#model.live(summary.id)!;
    assert.deepEqual(
      [summary.labels, summary.processing_status, summary.subject, summary.received_at, 'from' in summary],
      [
        [...message.labels],
        message.status,
        message.subject,
        toIso(message.receivedAt),
        message.status === 'ready',
      ],
    );
  }

  async #compareDetail(id: MessageId): Promise<void> {
    const input = { accountId: this.house.account, messageId: id };
    const detail = resultOf(() => getMessageDetail(this.house, input));
    const message = this.#model.live(id);
    if (message === undefined) return assertMissing(detail);
    const parts: Uint8Array[] = [];
    for await (const part of must(detail).bytes) parts.push(part);
    const { labels, processing_status } = JSON.parse(Buffer.concat(parts).toString('utf8'));
    assert.deepEqual([labels, processing_status], [[...message.labels], message.status]);
  }
}

interface Summary {
  readonly id: MessageId;
  readonly labels: readonly string[];
  readonly processing_status: string;
  readonly subject: string | null;
  readonly received_at: string;
}

const readSummary = (bytes: Buffer) => JSON.parse(bytes.toString('utf8')) as Summary;

const toIso = (ms: number) => new Date(ms).toISOString();

/** All pages of a list. They are full but for the last, and only that one has no cursor. */
function walk<Item>(
  limits: readonly number[],
  read: (limit: number, cursor: string | null) => { items: readonly Item[]; next: string | null },
  { mayBeShort } = { mayBeShort: false },
): Item[] {
  const all: Item[] = [];
  let cursor: string | null = null;
  for (let page = 0; ; page++) {
    const limit = limits[page % limits.length]!;
    const { items, next } = read(limit, cursor);
    assert.ok(items.length <= limit);
    all.push(...items);
    if (next === null) return all;
    assert.ok(mayBeShort || items.length === limit, 'a page with a cursor is full');
    assert.notEqual(next, cursor);
    cursor = next;
  }
}

function assertMissing(result: { ok: boolean; failure?: { code: string } }): void {
  assert.equal(result.ok, false);
  assert.equal(result.failure?.code, 'not_found');
}
