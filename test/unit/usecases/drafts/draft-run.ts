import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import type { DraftPage, UpdateDraft } from '../../../../src/contract/drafts.js';
import { resultOf } from '../../../../src/domain/errors.js';
import type { AccountId, InboxId } from '../../../../src/domain/ids.js';
import { openMigratedStore } from '../../../../src/store/open-store.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { deleteDraft, getDraftDetail, listDrafts } from '../../../../src/usecases/drafts/read-draft.js';
import { createDraft, updateDraft } from '../../../../src/usecases/drafts/save-draft.js';
import { sendDraft } from '../../../../src/usecases/drafts/send-draft.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import {
  deleteMessage,
  restoreMessage,
  trashMessage,
} from '../../../../src/usecases/mailbox/change-messages.js';
import { getSentDetail } from '../../../../src/usecases/mailbox/read-message.js';
import { readFacts } from '../../../support/box/store-facts.js';
import { must, outcomeOf } from '../../../support/use-cases.js';
import { storeOptions } from '../../store/with-store.js';
import { ACCEPTED, ATTRIBUTION, Desk, REJECTED, readStream, UNKNOWN } from '../with-desk.js';
import { DAY_MS, type House, houseOn, inNameOf } from '../with-house.js';
import { countOf, DraftModel, fieldProblem, type ModelDraft, meaningOf, written } from './draft-model.js';
import type { Step } from './draft-steps.js';

const START_MS = Date.UTC(2026, 0, 15, 12);
/** Few, so that it is often used up. */
const ALLOWANCE = 12;
const NOBODY = '01234567-89ab-7def-8123-456789abcdef';

/** One run of steps over a store and over the model, compared as it goes. Throws where they differ. */
export async function runSteps(steps: readonly Step[], path: string): Promise<{ sent: number }> {
  const run = new DraftRun(path);
  try {
    await run.begin();
    for (const step of steps) await run.take(step);
    return await run.end();
  } finally {
    await run.house.store.close();
    await rm(path, { recursive: true, force: true });
  }
}

type Failed = { readonly ok: false; readonly failure: { readonly code: string } };

class DraftRun {
  house!: House;
  readonly #path: string;
  readonly #model = new DraftModel(ALLOWANCE);
  readonly #now = { ms: START_MS };
  readonly #ids: string[] = [];
  readonly #sentIds: string[] = [];
  readonly #inboxes: InboxId[] = [];
  #desk!: Desk;
  #stranger!: AccountId;
  #made = 0;
  #relayed = 0;
  #lastCreation: { readonly inboxId: string; readonly fields: UpdateDraft } | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  async begin(): Promise<void> {
    const house = await this.#open();
    this.house = inNameOf(house, await house.addAccount('owner@elsewhere.example'));
    this.#stranger = await house.addAccount('stranger@elsewhere.example');
    for (const slot of [0, 1]) await this.#makeInbox(slot);
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'create':
        return this.#create(this.#inboxes[step.slot]!, step.fields, step.key, step.isStranger);
      case 'createAgain':
        if (this.#lastCreation === null) return;
        return this.#create(this.#lastCreation.inboxId, this.#lastCreation.fields, step.key, false);
      case 'edit':
        return this.#edit(step);
      case 'delete':
        return this.#delete(step);
      case 'send':
        return this.#send(step);
      case 'trashSent':
      case 'restoreSent':
      case 'deleteSent':
        return this.#moveSent(step.kind, step.pick);
      case 'wait':
        this.#now.ms += step.ms;
        return;
      case 'sweep':
        return this.house.sweepAll();
      case 'reopen':
        return this.#reopen();
      case 'deleteInbox':
        return this.#deleteInbox(step.slot);
      case 'ask':
        return this.#ask(step.limit);
    }
  }

  async end(): Promise<{ sent: number }> {
    await this.#ask(3);
    assert.deepEqual(verifyStore(this.house.store).faults, []);
    // Bytes that were replaced have had their time.
    this.#now.ms += 61_000;
    await this.house.sweepAll();
    assert.deepEqual(verifyStore(this.house.store).faults, [], 'after the sweep');
    assert.equal(readFacts(this.house.store).pending['purge-blob'], 0, 'nothing is left to free');
    return { sent: this.#relayed };
  }

  async #open() {
    const store = await openMigratedStore(storeOptions(this.#path));
    const house = houseOn(store, this.#now, 1_000);
    this.#desk = new Desk(house, { sends: ALLOWANCE });
    return house;
  }

  async #reopen(): Promise<void> {
    await this.#desk.settled();
    await this.house.store.close();
    this.house = inNameOf(await this.#open(), this.house.account);
  }

  async #makeInbox(slot: number): Promise<void> {
    this.#inboxes[slot] = await this.house.addInbox(`inbox${this.#made++}`);
  }

  async #deleteInbox(slot: number): Promise<void> {
    const inboxId = this.#inboxes[slot]!;
    await deleteInbox(this.house, { accountId: this.house.account, inboxId });
    this.#model.drafts = this.#model.drafts.filter(draft => draft.inboxId !== inboxId);
    for (const [id, sent] of this.#model.sent) if (sent.inboxId === inboxId) this.#model.sent.delete(id);
    const input = { accountId: this.house.account, inboxId, list: 'all', limit: 1, cursor: null } as const;
    this.#refused(
      resultOf(() => listDrafts(this.house, input)),
      'not_found',
    );
    await this.#makeInbox(slot);
  }

  #picked(ids: readonly string[], pick: number): string {
    return ids[pick % Math.max(1, ids.length)] ?? NOBODY;
  }

  #caller(isStranger: boolean): AccountId {
    return isStranger ? this.#stranger : this.house.account;
  }

  #refused(result: { readonly ok: boolean }, code: string): void {
    assert.equal(result.ok ? 'no failure' : (result as Failed).failure.code, code);
  }

  async #create(
    inboxId: string,
    fields: UpdateDraft,
    key: string | undefined,
    isStranger: boolean,
  ): Promise<void> {
    const nowMs = this.#now.ms;
    const input = { ...fields, accountId: this.#caller(isStranger), inboxId, idempotency_key: key };
    const result = await outcomeOf(() => createDraft(this.#desk.deps, input));
    const problem = fieldProblem(fields);
    if (problem !== null) return this.#refused(result, problem);
    if (isStranger || !this.#inboxes.includes(inboxId as InboxId)) return this.#refused(result, 'not_found');
    const known = this.#model.key('draft', key, nowMs);
    const meaning = meaningOf(inboxId, fields);
    if (known !== undefined) {
      if (known.meaning !== meaning) return this.#refused(result, 'idempotency_conflict');
      const draft = this.#model.find(known.resultId);
      if (draft === undefined) return this.#refused(result, 'idempotency_result_unavailable');
      const expiry = { replayed: true, idempotency_expires_at: toIso(known.expiresAt) };
      return assert.deepEqual(must(result), { ...metadataOf(draft), ...expiry });
    }
    const { replayed, idempotency_expires_at, ...metadata } = must(result);
    const content = written(fields);
    const draft: ModelDraft = {
      id: metadata.id,
      inboxId,
      createdAt: nowMs,
      updatedAt: nowMs,
      content,
      sentId: null,
    };
    assert.ok(!this.#ids.includes(draft.id));
    this.#model.drafts.push(draft);
    this.#ids.push(draft.id);
    this.#lastCreation = { inboxId, fields };
    assert.deepEqual(metadata, metadataOf(draft));
    if (key === undefined)
      return assert.deepEqual([replayed, idempotency_expires_at], [undefined, undefined]);
    assert.deepEqual([replayed, idempotency_expires_at], [false, toIso(nowMs + DAY_MS)]);
    this.#model.keys.draft.set(key, { meaning, resultId: draft.id, expiresAt: nowMs + DAY_MS });
  }

  async #edit(step: Extract<Step, { kind: 'edit' }>): Promise<void> {
    const draftId = this.#picked(this.#ids, step.pick);
    const input = { ...step.fields, accountId: this.#caller(step.isStranger), draftId };
    const result = await outcomeOf(() => updateDraft(this.#desk.deps, input));
    const problem = fieldProblem(step.fields);
    if (problem !== null) return this.#refused(result, problem);
    if (Object.keys(step.fields).length === 0) return this.#refused(result, 'invalid_draft');
    const draft = step.isStranger ? undefined : this.#model.find(draftId);
    if (draft === undefined) return this.#refused(result, 'not_found');
    if (draft.sentId !== null) return this.#refused(result, 'draft_submitted');
    const content = written(step.fields, draft.content);
    if (countOf(content) > 50) return this.#refused(result, 'invalid_message');
    draft.content = content;
    draft.updatedAt = this.#now.ms;
    assert.deepEqual(must(result), metadataOf(draft));
  }

  async #delete({ pick, isStranger }: Extract<Step, { kind: 'delete' }>): Promise<void> {
    const draftId = this.#picked(this.#ids, pick);
    const input = { accountId: this.#caller(isStranger), draftId };
    const result = await outcomeOf(() => deleteDraft(this.house, input));
    const draft = isStranger ? undefined : this.#model.find(draftId);
    if (draft === undefined) return this.#refused(result, 'not_found');
    assert.equal(must(result).status, 'deletion_pending');
    this.#model.drafts = this.#model.drafts.filter(({ id }) => id !== draftId);
  }

  async #send(step: Extract<Step, { kind: 'send' }>): Promise<void> {
    const nowMs = this.#now.ms;
    const draftId = this.#picked(this.#ids, step.pick);
    this.#desk.outcome = { accepted: ACCEPTED, rejected: REJECTED, unknown: UNKNOWN }[step.outcome];
    const input = { accountId: this.#caller(step.isStranger), draftId, idempotency_key: step.key };
    const result = await outcomeOf(() => sendDraft(this.#desk.deps, input));
    assert.equal(this.#desk.relayed.length <= 1, true);
    const relayed = this.#desk.relayed.splice(0)[0];
    const draft = step.isStranger ? undefined : this.#model.find(draftId);
    if (draft === undefined) return this.#refused(result, 'not_found');
    const known = this.#model.key('send', step.key, nowMs);
    if (known !== undefined && known.meaning !== draftId)
      return this.#refused(result, 'idempotency_conflict');
    if (draft.sentId !== null) {
      assert.equal(relayed, undefined, 'nothing goes out twice');
      if (!this.#model.isShown(draft.sentId)) {
        const code = known === undefined ? 'draft_result_unavailable' : 'idempotency_result_unavailable';
        return this.#refused(result, code);
      }
      const { message, outcome_persisted, limited, ...rest } = must(result);
      const expiry = known === undefined ? {} : { idempotency_expires_at: toIso(known.expiresAt) };
      assert.deepEqual(rest, { replayed: true, ...expiry });
      assert.deepEqual([message.id, outcome_persisted, limited], [draft.sentId, true, false]);
      return assert.equal(message.status, this.#model.sent.get(draft.sentId)?.status);
    }
    const refusal = this.#model.refusal(draft, nowMs);
    if (refusal !== null) {
      assert.equal(relayed, undefined);
      return this.#refused(result, refusal);
    }
    const { message, replayed } = must(result);
    assert.equal(replayed, step.key === undefined ? undefined : false);
    assert.equal(message.status, step.outcome);
    assert.equal(relayed?.id, message.id);
    await this.#submitted(draft, message.id, step, nowMs);
  }

  /** The model takes in what was sent, and its saved copy is what the draft was. */
  async #submitted(
    draft: ModelDraft,
    sentId: string,
    { key, outcome }: Extract<Step, { kind: 'send' }>,
    nowMs: number,
  ): Promise<void> {
    const model = this.#model;
    this.#relayed += 1;
    this.#sentIds.push(sentId);
    draft.sentId = sentId;
    draft.updatedAt = nowMs;
    model.sent.set(sentId, {
      draftId: draft.id,
      status: outcome,
      inboxId: draft.inboxId,
      trashedUntil: null,
    });
    if (outcome !== 'rejected') model.charges.push({ at: nowMs, amount: countOf(draft.content) });
    if (key !== undefined) {
      model.keys.send.set(key, { meaning: draft.id, resultId: sentId, expiresAt: nowMs + DAY_MS });
    }
    const detail = await getSentDetail(this.house, { accountId: this.house.account, messageId: sentId });
    const { submission, labels } = await readStream<{
      submission: Record<string, unknown>;
      labels: string[];
    }>(detail);
    const { content } = draft;
    assert.deepEqual(labels, content.labels);
    assert.deepEqual(
      [submission.to, submission.cc, submission.bcc, submission.subject, submission.attachments],
      [content.to, content.cc, content.bcc, content.subject, content.files],
    );
    assert.ok(String(submission.text).startsWith(content.text));
    assert.ok(String(submission.text).endsWith(`\n${ATTRIBUTION}`));
    assert.equal('html' in submission, content.html !== null);
  }

  async #moveSent(kind: 'trashSent' | 'restoreSent' | 'deleteSent', pick: number): Promise<void> {
    const messageId = this.#picked(this.#sentIds, pick);
    const input = { accountId: this.house.account, messageId };
    const sent = this.#model.sent.get(messageId);
    const isThere = sent !== undefined && (sent.trashedUntil ?? Number.POSITIVE_INFINITY) > this.#now.ms;
    if (kind === 'deleteSent') {
      const result = await outcomeOf(() => deleteMessage(this.house, { ...input, kind: 'sent' }));
      this.#model.sent.delete(messageId);
      if (!isThere) return this.#refused(result, 'not_found');
      return assert.equal(result.ok, true);
    }
    const result = await outcomeOf<object>(() =>
      kind === 'trashSent'
        ? trashMessage(this.house, { ...input, kind: 'sent' })
        : restoreMessage(this.house, { ...input, kind: 'sent' }),
    );
    if (!isThere) return this.#refused(result, 'not_found');
    assert.equal(result.ok, true);
    if (kind === 'restoreSent') sent.trashedUntil = null;
    else sent.trashedUntil ??= this.#now.ms + 7 * DAY_MS;
  }

  /** Lists of each inbox, walked page by page, and every draft in full. */
  async #ask(limit: number): Promise<void> {
    for (const inboxId of this.#inboxes) {
      for (const list of ['draft', 'submitted', 'all'] as const) {
        const listed: string[] = [];
        let cursor: string | null = null;
        do {
          const page: DraftPage = listDrafts(this.house, {
            accountId: this.house.account,
            inboxId,
            list,
            limit,
            cursor,
          });
          assert.ok(page.drafts.length <= limit);
          for (const entry of page.drafts) {
            listed.push(entry.id);
            assert.deepEqual(entry, metadataOf(this.#model.find(entry.id)!));
          }
          cursor = page.next_cursor;
        } while (cursor !== null);
        assert.deepEqual(listed, this.#model.list(inboxId, list));
      }
    }
    for (const draft of this.#model.drafts) await this.#compareDetail(draft);
  }

  async #compareDetail(draft: ModelDraft): Promise<void> {
    const asked = await getDraftDetail(this.house, { accountId: this.house.account, draftId: draft.id });
    const { content, from, ...metadata } = await readStream<{ content: object; from: object }>(asked);
    assert.deepEqual(metadata, metadataOf(draft));
    assert.match(JSON.stringify(from), /^\{"address":"inbox\d+@example\.org"\}$/);
    const { html, files, labels, ...rest } = draft.content;
    assert.deepEqual(content, {
      ...rest,
      attachments: files,
      ...(html === null ? {} : { html }),
      ...(labels.length === 0 ? {} : { labels }),
    });
  }
}

function metadataOf(draft: ModelDraft): object {
  return {
    id: draft.id,
    inbox_id: draft.inboxId,
    state: draft.sentId === null ? 'draft' : 'submitted',
    subject: draft.content.subject,
    created_at: toIso(draft.createdAt),
    updated_at: toIso(draft.updatedAt),
    sent_message_id: draft.sentId,
  };
}

function toIso(ms: number): string {
  return new Date(ms).toISOString();
}
