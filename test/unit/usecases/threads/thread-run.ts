import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import type { ThreadPage, ThreadSummary } from '../../../../src/contract/threads.js';
import { resultOf } from '../../../../src/domain/errors.js';
import {
  type AccountId,
  type InboxId,
  type MessageId,
  newId,
  type ThreadId,
} from '../../../../src/domain/ids.js';
import { applyLabelChange, normaliseLabelChange } from '../../../../src/domain/labels.js';
import { type MessageFilter, NO_FILTER, normaliseFilter } from '../../../../src/domain/message-filter.js';
import { threadKeys } from '../../../../src/domain/message-ids.js';
import { type Table, walkTable } from '../../../../src/store/engine/tables.js';
import { getMessage, getSent } from '../../../../src/store/mailbox/messages.js';
import { openMigratedStore } from '../../../../src/store/open-store.js';
import type { MemberPosition } from '../../../../src/store/threads/members.js';
import {
  canonicalThread,
  mergedThreadsTable,
  threadAliasesTable,
  threadLinksTable,
  threadPartsTable,
} from '../../../../src/store/threads/names.js';
import { threadActivityTable, threadsTable } from '../../../../src/store/threads/threads.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { reparseMessage } from '../../../../src/usecases/inbound/index-message.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import {
  changeLabels,
  deleteMessage,
  restoreMessage,
  trashMessage,
} from '../../../../src/usecases/mailbox/change-messages.js';
import { listMessages } from '../../../../src/usecases/mailbox/list-messages.js';
import { changeThreadLabels, deleteThread } from '../../../../src/usecases/threads/change-thread.js';
import { type ThreadPageRequest, ThreadSearch } from '../../../../src/usecases/threads/find-threads.js';
import { type ListThreadsInput, listThreads } from '../../../../src/usecases/threads/list-threads.js';
import { getThreadDetail } from '../../../../src/usecases/threads/read-thread.js';
import { must, outcomeOf } from '../../../support/use-cases.js';
import { indexAll } from '../../search/with-index.js';
import { storeOptions } from '../../store/with-store.js';
import type { Question } from '../mailbox/mailbox-steps.js';
import { DAY_MS, type House, houseOn, inNameOf } from '../with-house.js';
import { gaveUp, index, parsed } from '../with-parser.js';
import { putSent, settleSent } from '../with-sent.js';
import { isShown, type ModelMember, type ModelThread, meets, shownOf, ThreadModel } from './thread-model.js';
import type { ThreadStep } from './thread-steps.js';

const START_MS = Date.UTC(2026, 0, 15, 12);

/** One run of steps over a store and over the model, compared as it goes. Throws where they differ. */
export async function runThreadSteps(steps: readonly ThreadStep[], path: string): Promise<void> {
  const run = new ThreadRun(path);
  try {
    await run.begin();
    for (const step of steps) await run.take(step);
    await run.end();
  } finally {
    await run.house.store.close();
    await rm(path, { recursive: true, force: true });
  }
}

type Kind<K extends ThreadStep['kind']> = Extract<ThreadStep, { kind: K }>;

class ThreadRun {
  house!: House;
  readonly #path: string;
  readonly #model = new ThreadModel();
  readonly #now = { ms: START_MS };
  readonly #ids: MessageId[] = [];
  readonly #names: string[] = [];
  readonly #inboxes: InboxId[] = [];
  #stranger!: AccountId;

  constructor(path: string) {
    this.#path = path;
  }

  async begin(): Promise<void> {
    const house = await this.#open();
    this.house = inNameOf(house, await house.addAccount('owner@elsewhere.example'));
    this.#stranger = await house.addAccount('stranger@elsewhere.example');
    for (const slot of [0, 1]) this.#inboxes[slot] = await this.house.addInbox(`inbox${slot}`);
  }

  async take(step: ThreadStep): Promise<void> {
    switch (step.kind) {
      case 'deliver':
        return this.#deliver(step.slot);
      case 'publish':
        return this.#publish(step);
      case 'fail':
        return this.#fail(step.pick);
      case 'reparse':
        return this.#reparse(step.pick);
      case 'send':
        return this.#send(step);
      case 'settle':
        return this.#settle(step);
      case 'label':
        return this.#label(step);
      case 'labelThread':
        return this.#labelThread(step);
      case 'trash':
      case 'restore':
      case 'delete':
        return this.#move(step);
      case 'deleteThread':
        return this.#deleteThread(step);
      case 'wait':
        this.#now.ms += step.ms;
        return;
      case 'sweep':
        await this.house.sweepAll();
        this.#model.erase(({ trash }) => trash !== null && trash.until <= this.#now.ms);
        return;
      case 'reopen':
        await this.house.store.close();
        this.house = inNameOf(await this.#open(), this.house.account);
        return;
      case 'ask':
        return this.#ask(step.question);
    }
  }

  /** Everything plainly, and then what is left when all of it is deleted. */
  async end(): Promise<void> {
    const plain = { all: [], any: [], none: [], from: null, recipient: null, subject: null };
    const open = { ...plain, authentication: null, after: null, before: null, limits: [2, 100], prefix: '' };
    await this.#ask({ ...open, order: 'newest' });
    await this.#ask({ ...open, order: 'oldest', none: ['a'] });
    for (const inboxId of this.#inboxes)
      await deleteInbox(this.house, { accountId: this.house.account, inboxId });
    // The clock may have been set back since something was deleted.
    this.#now.ms += DAY_MS;
    await this.house.sweepAll();
    await indexAll(this.house);
    const { faults, checked } = verifyStore(this.house.store);
    assert.deepEqual([faults, checked.threads, checked.pending], [[], 0, 0]);
    assert.deepEqual(leftovers(this.house), []);
  }

  async #open() {
    return houseOn(await openMigratedStore(storeOptions(this.#path)), this.#now, 1_000);
  }

  async #deliver(slot: number): Promise<void> {
    const inboxId = this.#inboxes[slot]!;
    const id = await this.house.receive('raw', inboxId);
    this.#ids.push(id);
    const addresses = { senders: [], recipients: [] };
    this.#model.add(
      { id, inboxId, kind: 'received', status: 'pending', labels: [], subject: null, ...addresses },
      this.#now.ms,
    );
  }

  async #publish({ pick, ids, subject, senders, recipients }: Kind<'publish'>): Promise<void> {
    const pending = this.#model.messages.filter(({ status }) => status === 'pending');
    const message = pending[pick % Math.max(1, pending.length)];
    if (message === undefined) return;
    const [sender = null] = senders;
    const from = sender === null ? null : { name: 'S', address: sender };
    const messageId = ids.messageId === null ? null : `<${ids.messageId}>`;
    await index(this.house, message.id, parsed({}, { ids, messageId, subject, senders, recipients, from }));
    Object.assign(message, { status: 'ready', subject, senders, recipients });
    this.#joined(message, threadKeys(ids));
  }

  /** The model learns the name of a conversation that began, and knows those of all others. */
  #joined(message: ModelMember, keys: readonly string[]): void {
    const thread = this.#model.join(message, keys);
    const shown = this.#shownId(message);
    if (thread.names.length === 0) {
      assert.ok(!this.#names.includes(shown), 'a conversation that begins has an id of its own');
      thread.names.push(shown);
      this.#names.push(shown);
    }
    assert.equal(shown, thread.names[0], 'the oldest id is shown');
  }

  #shownId({ id, kind }: ModelMember): string {
    return this.house.store.read(reader => {
      const record = kind === 'received' ? getMessage(reader, id) : getSent(reader, id);
      return record?.threadId == null ? 'none' : canonicalThread(reader, record.threadId);
    });
  }

  async #fail(pick: number): Promise<void> {
    const pending = this.#model.messages.filter(({ status }) => status === 'pending');
    const message = pending[pick % Math.max(1, pending.length)];
    if (message === undefined) return;
    await index(this.house, message.id, gaveUp('timeout'));
    message.status = 'failed';
  }

  async #reparse(pick: number): Promise<void> {
    const message = this.#picked(pick);
    if (message?.kind !== 'received') return;
    const result = await outcomeOf(() => reparseMessage(this.house, message.id));
    assert.equal(result.ok, this.#model.anywhere(message.id, this.#now.ms) !== undefined);
    if (result.ok) Object.assign(message, { status: 'pending', senders: [], recipients: [], subject: null });
  }

  async #send({ slot, ids, subject, to }: Kind<'send'>): Promise<void> {
    const inboxId = this.#inboxes[slot]!;
    const { messageId, references } = ids;
    const fields = {
      references,
      subject,
      to: to.map(address => ({ address: address.toUpperCase(), name: 'N' })),
    };
    const own = messageId === null ? {} : { messageId };
    const record = await putSent(this.house.store, inboxId, this.#now.ms, { ...fields, ...own });
    this.#ids.push(record.id);
    const addresses = { senders: ['agent@example.org'], recipients: to };
    const message = this.#model.add(
      { id: record.id, inboxId, kind: 'sent', status: 'unknown', labels: [], subject, ...addresses },
      this.#now.ms,
    );
    this.#joined(message, threadKeys({ messageId: record.messageId, references, inReplyTo: [] }));
  }

  async #settle({ pick, status }: Kind<'settle'>): Promise<void> {
    const message = this.#picked(pick);
    if (message?.kind !== 'sent') return;
    await settleSent(this.house.store, message.id, status);
    message.status = status;
  }

  /** Any message that there is, or ever was. */
  #picked(pick: number): ModelMember | undefined {
    const id = this.#ids[pick % Math.max(1, this.#ids.length)];
    return this.#model.messages.find(message => message.id === id);
  }

  async #label({ pick, change }: Kind<'label'>): Promise<void> {
    const message = this.#picked(pick);
    if (message === undefined) return;
    const input = {
      accountId: this.house.account,
      messageId: message.id,
      add_labels: change.add,
      remove_labels: change.remove,
    };
    const { store } = this.house;
    const result = await outcomeOf(() =>
      message.kind === 'received'
        ? changeLabels({ store }, { ...input, kind: 'received' })
        : changeLabels({ store }, { ...input, kind: 'sent' }),
    );
    const normalised = resultOf(() => normaliseLabelChange(change.add, change.remove));
    if (!normalised.ok) return assert.deepEqual(result, normalised);
    if (message.trash !== null) return assertMissing(result);
    message.labels = applyLabelChange(message.labels, normalised.value);
  }

  /** A thread id that was given, or one that never was. */
  #name(pick: number): string {
    return this.#names[pick % Math.max(1, this.#names.length)] ?? newId<ThreadId>(1);
  }

  #visible(name: string, isStranger: boolean): ModelThread | undefined {
    const thread = isStranger ? undefined : this.#model.named(name);
    return thread !== undefined && shownOf(thread).length > 0 ? thread : undefined;
  }

  async #labelThread({ pick, isStranger, change }: Kind<'labelThread'>): Promise<void> {
    const threadId = this.#name(pick);
    const accountId = isStranger ? this.#stranger : this.house.account;
    const input = { accountId, threadId, add_labels: change.add, remove_labels: change.remove };
    const result = await outcomeOf(() => changeThreadLabels(this.house, input));
    const normalised = resultOf(() => normaliseLabelChange(change.add, change.remove));
    if (!normalised.ok) return assert.deepEqual(result, normalised);
    const thread = this.#visible(threadId, isStranger);
    if (thread === undefined) return assertMissing(result);
    const { add: add_labels, remove: remove_labels } = normalised.value;
    assert.deepEqual(must(result), { ...countsOf(thread), add_labels, remove_labels });
    for (const member of shownOf(thread)) member.labels = applyLabelChange(member.labels, normalised.value);
  }

  async #deleteThread({ pick, isStranger }: Kind<'deleteThread'>): Promise<void> {
    const threadId = this.#name(pick);
    const accountId = isStranger ? this.#stranger : this.house.account;
    const result = await outcomeOf(() => deleteThread(this.house, { accountId, threadId }));
    const thread = this.#visible(threadId, isStranger);
    if (thread === undefined) return assertMissing(result);
    const { message: _words, ...answer } = must(result);
    assert.deepEqual(answer, { ...countsOf(thread), status: 'deletion_pending' });
    for (const member of shownOf(thread)) this.#model.trash(member, this.#now.ms);
  }

  async #move(step: Kind<'trash' | 'restore' | 'delete'>): Promise<void> {
    const picked = this.#picked(step.pick);
    if (picked === undefined) return;
    const input = {
      accountId: step.isStranger ? this.#stranger : this.house.account,
      messageId: picked.id,
      kind: picked.kind,
    };
    const act = { trash: trashMessage, restore: restoreMessage, delete: deleteMessage }[step.kind];
    const result = await outcomeOf<object>(() => act(this.house, input));
    const message = step.isStranger ? undefined : this.#model.anywhere(picked.id, this.#now.ms);
    if (message === undefined) return assertMissing(result);
    must(result);
    if (step.kind === 'trash') this.#model.trash(message, this.#now.ms);
    if (step.kind === 'delete') this.#model.erase(candidate => candidate === message);
    if (step.kind !== 'restore') return;
    message.trash = null;
    const thread = isShown(message) ? this.#model.threadOf(message)?.names[0] : null;
    assert.equal((must(result) as { thread_id?: string | null }).thread_id, thread);
  }

  async #ask(question: Question): Promise<void> {
    const filter = this.#filterOf(question);
    if (filter === null) return;
    assert.deepEqual(verifyStore(this.house.store).faults, []);
    for (const inboxId of this.#inboxes) {
      const expected: ThreadSummary[] = this.#model
        .list(inboxId, filter, question.order)
        .map(thread => this.#summaryOf(thread, filter));
      assert.deepEqual(await this.#listed(inboxId, filter, question), expected);
      // The other way to search, in the smallest steps.
      if (isFiltered(filter)) assert.deepEqual(this.#walked(inboxId, filter, question), expected);
      this.#compareMessages(inboxId);
    }
    for (const name of this.#names) await this.#compareDetail(name, question.limits);
  }

  async #listed(
    inboxId: InboxId,
    filter: MessageFilter,
    { order, limits }: Question,
  ): Promise<ThreadSummary[]> {
    const all: ThreadSummary[] = [];
    let cursor: string | null = null;
    for (let page = 0; ; page++) {
      const limit = limits[page % limits.length]!;
      const input: ListThreadsInput = {
        accountId: this.house.account,
        inboxId,
        filter,
        order,
        limit,
        cursor,
      };
      const { threads, next_cursor }: ThreadPage = await listThreads(this.house, input);
      assert.ok(threads.length === limit || next_cursor === null, 'a page with a cursor is full');
      all.push(...threads);
      if (next_cursor === null) return all;
      cursor = next_cursor;
    }
  }

  #walked(inboxId: InboxId, filter: MessageFilter, { order, limits }: Question): ThreadSummary[] {
    const all: ThreadSummary[] = [];
    let position: MemberPosition | null = null;
    do {
      const page: ThreadPageRequest = { isDescending: order === 'newest', limit: limits[0]!, position };
      const search = new ThreadSearch(inboxId, filter, page, { few: 0, looksPerTurn: 3, looksPerPage: 7 });
      while (this.house.store.read(reader => search.advance(reader)) !== 'done');
      all.push(...search.result().threads);
      position = search.result().next;
    } while (position !== null);
    return all;
  }

  #summaryOf(thread: ModelThread, filter: MessageFilter): ThreadSummary {
    const shown = shownOf(thread);
    const latest = shown.at(-1)!;
    const matching = shown.filter(member => meets(member, filter)).reverse();
    const [sender] = latest.senders;
    const [recipient] = latest.recipients;
    const counterpart =
      latest.kind === 'received'
        ? sender === undefined
          ? null
          : { name: 'S', address: sender }
        : recipient === undefined
          ? null
          : { address: recipient };
    return {
      ...baseOf(thread),
      latest_message: { id: latest.id, direction: latest.kind, counterpart },
      ...(isFiltered(filter)
        ? { matching_message_ids: matching.map(({ id }) => id), matching_message_count: matching.length }
        : {}),
    } as ThreadSummary;
  }

  /** The thread id of every line in lists is the current one. */
  #compareMessages(inboxId: InboxId): void {
    for (const kind of ['received', 'sent'] as const) {
      const input = {
        accountId: this.house.account,
        inboxId,
        kind,
        filter: NO_FILTER,
        order: 'newest' as const,
      };
      const { summaries } = listMessages(this.house, { ...input, limit: 1_000, cursor: null });
      for (const summary of summaries) {
        const { id, thread_id } = JSON.parse(summary.toString()) as { id: string; thread_id: string | null };
        const message = this.#model.messages.find(candidate => candidate.id === id)!;
        const thread = isShown(message) ? this.#model.threadOf(message)?.names[0] : null;
        assert.equal(thread_id, thread, `${id} ${message.status}`);
      }
    }
  }

  async #compareDetail(name: string, limits: readonly number[]): Promise<void> {
    const thread = this.#visible(name, false);
    const input = { accountId: this.house.account, threadId: name };
    let members: string[] = [];
    let cursor: string | null = null;
    for (let page = 0; ; page++) {
      const limit = limits[page % limits.length]!;
      const detail = resultOf(() => getThreadDetail(this.house, { ...input, limit, cursor }));
      if (thread === undefined) return assertMissing(detail);
      const { size, bytes } = must(detail);
      const parts: Uint8Array[] = [];
      for await (const part of bytes) parts.push(part);
      const body = Buffer.concat(parts);
      assert.equal(body.length, size);
      const { messages, next_cursor, ...base } = JSON.parse(body.toString());
      assert.deepEqual(base, baseOf(thread));
      assert.ok(messages.length === limit || next_cursor === null);
      members = [...messages.map((message: object) => JSON.stringify(memberFacts(message))), ...members];
      if (next_cursor === null) break;
      cursor = next_cursor;
    }
    assert.deepEqual(
      members,
      shownOf(thread).map(member => JSON.stringify(expectedFacts(member, thread))),
    );
  }

  #filterOf(question: Question): MessageFilter | null {
    const { all, any, none } = question;
    const given = (['from', 'recipient', 'subject'] as const).flatMap(name => {
      const value = question[name];
      return value === null ? [] : [[name, value]];
    });
    const normalised = normaliseFilter({ all, any, none }, Object.fromEntries(given));
    const instantOf = (bound: Question['after']): number | null =>
      bound === null ? null : (this.#picked(bound.pick)?.at ?? this.#now.ms) + bound.shift;
    const [after, before] = [instantOf(question.after), instantOf(question.before)];
    return after !== null && before !== null && after >= before ? null : { ...normalised, after, before };
  }
}

function isFiltered(filter: MessageFilter): boolean {
  return JSON.stringify(filter) !== JSON.stringify(NO_FILTER);
}

const toIso = (ms: number) => new Date(ms).toISOString();

function baseOf(thread: ModelThread) {
  const shown = shownOf(thread);
  const count = (status: ModelMember['status']) => shown.filter(member => member.status === status).length;
  return {
    id: thread.names[0],
    inbox_id: thread.inboxId,
    subject: shown[0]?.subject,
    last_activity_at: toIso(shown.at(-1)?.at ?? 0),
    message_count: shown.length,
    received_count: count('ready'),
    accepted_count: count('accepted'),
    rejected_count: count('rejected'),
    unknown_count: count('unknown'),
  };
}

function countsOf(thread: ModelThread) {
  const { id, inbox_id, message_count, received_count } = baseOf(thread);
  return { id, inbox_id, message_count, received_count, sent_count: message_count - received_count };
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the answer holds
function memberFacts(message: any) {
  const { id, direction, timestamp, thread_id, labels } = message;
  const text = direction === 'received' ? message.content.text : message.submission.text;
  const status = direction === 'received' ? message.processing_status : message.status;
  return { id, direction, timestamp, thread_id, labels, text, status };
}

function expectedFacts({ id, kind, at, labels, status }: ModelMember, thread: ModelThread) {
  const text = kind === 'received' ? 'Hi' : 'Sent';
  return { id, direction: kind, timestamp: toIso(at), thread_id: thread.names[0], labels, text, status };
}

function assertMissing(result: { ok: boolean; failure?: { code: string } }): void {
  assert.equal(result.ok, false);
  assert.equal(result.failure?.code, 'not_found');
}

/** Entries of conversations that nothing belongs to any more. */
function leftovers({ store }: House): string[] {
  const tables = [
    threadsTable,
    threadActivityTable,
    threadLinksTable,
    threadPartsTable,
    threadAliasesTable,
    mergedThreadsTable,
  ];
  return store.read(reader =>
    tables.flatMap(table =>
      [...walkTable<unknown, unknown>(reader, table as Table<unknown, unknown>)].map(() => table.name),
    ),
  );
}
