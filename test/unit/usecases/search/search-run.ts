import assert from 'node:assert/strict';
import type { InboxId, MessageId } from '../../../../src/domain/ids.js';
import { foldCase, type MessageFilter, normaliseFilter } from '../../../../src/domain/message-filter.js';
import { messageWordsAtOnce } from '../../../../src/domain/message-words.js';
import type { MessageKind } from '../../../../src/store/mailbox/folders.js';
import { listUnindexed } from '../../../../src/store/records/search.js';
import {
  changeLabels,
  deleteMessage,
  restoreMessage,
  trashMessage,
} from '../../../../src/usecases/mailbox/change-messages.js';
import { searchThreads } from '../../../../src/usecases/search/search-threads.js';
import { scoreOf } from '../../../support/search/naive-index.js';
import { fits } from '../../../support/search/naive-words.js';
import { outcomeOf } from '../../../support/use-cases.js';
import type { Question, Step } from './search-steps.js';
import type { SearchedHouse, SearchedIndex } from './with-search.js';

interface ModelMessage {
  readonly id: MessageId;
  readonly inboxId: InboxId;
  readonly kind: MessageKind;
  readonly seq: number;
  readonly at: number;
  readonly subject: string;
  readonly text: string;
  readonly conversation: string;
  readonly labels: Set<string>;
  isTrashed: boolean;
}

/** One run of steps over a store with its index, and over a list of all messages, compared as it goes. */
export class SearchRun {
  readonly #searched: SearchedHouse<SearchedIndex>;
  readonly #inboxes: readonly InboxId[];
  #messages: ModelMessage[] = [];
  readonly #all: ModelMessage[] = [];
  readonly #seqs = new Map<string, number>();
  readonly #scores: 'known' | 'unknown';
  asked = 0;

  /** @param scores whether its order of relevance is known here */
  constructor(
    searched: SearchedHouse<SearchedIndex>,
    inboxes: readonly InboxId[],
    scores: 'known' | 'unknown',
  ) {
    this.#scores = scores;
    this.#searched = searched;
    this.#inboxes = inboxes;
  }

  async take(step: Step): Promise<void> {
    const { house } = this.#searched;
    if (step.step === 'mail') return this.#mail(step);
    if (step.step === 'takeIn') return this.#searched.takeIn(step.limit);
    if (step.step === 'die') return this.#searched.index.dieAmidTakingIn(step.isTaken);
    if (step.step === 'lose') return this.#searched.index.loseAndHeal(house.account);
    if (step.step === 'ask') return this.ask(step.question);
    if (step.step === 'wait') {
      house.now.ms += step.ms;
      return;
    }
    const message = this.#all[step.pick % Math.max(1, this.#all.length)];
    if (message === undefined) return;
    const isThere = this.#messages.includes(message);
    const { id, kind } = message;
    const input = { accountId: house.account, messageId: id, kind };
    switch (step.step) {
      case 'label': {
        if (!isThere || message.isTrashed) return;
        const remove = step.remove === null || step.remove === step.add ? [] : [step.remove];
        await changeLabels(house, { ...input, add_labels: [step.add], remove_labels: remove });
        message.labels.add(step.add);
        for (const label of remove) message.labels.delete(label);
        return;
      }
      case 'trash':
        await outcomeOf(() => trashMessage(house, input));
        message.isTrashed = true;
        return;
      case 'restore':
        await outcomeOf(() => restoreMessage(house, input));
        message.isTrashed = false;
        return;
      case 'delete':
        if (!isThere) return;
        await deleteMessage(house, input);
        this.#messages = this.#messages.filter(one => one !== message);
    }
  }

  async #mail({
    kind,
    isOther,
    subject,
    text,
    conversation,
  }: Extract<Step, { step: 'mail' }>): Promise<void> {
    const { house } = this.#searched;
    const inboxId = this.#inboxes[isOther ? 1 : 0]!;
    const place = `${inboxId} ${kind}`;
    const seq = (this.#seqs.get(place) ?? 0) + 1;
    this.#seqs.set(place, seq);
    const texts = { subject, text, conversation };
    const id =
      kind === 'received'
        ? await this.#searched.receive(inboxId, texts)
        : await this.#searched.send(inboxId, texts);
    const message = {
      ...{ id, inboxId, kind, seq, at: house.now.ms, subject, text, conversation },
      labels: new Set<string>(),
      isTrashed: false,
    };
    this.#messages.push(message);
    this.#all.push(message);
  }

  /** Lists, counts and conversations of each inbox. */
  async ask(question: Question): Promise<void> {
    const filter = this.#filterOf(question);
    const { order, limits, kind } = question;
    for (const inboxId of this.#inboxes) {
      this.asked += 1;
      const expected = this.#found(inboxId, filter, kind);
      const found = await this.#searched.list(inboxId, filter, { order, limits, kind });
      if (order === 'relevance') this.#compareOrder(inboxId, filter, kind, expected, found);
      else if (order === 'newest') expected.reverse();
      if (order !== 'relevance') {
        assert.deepEqual(
          found,
          expected.map(({ id }) => id),
        );
      }
      assert.equal(await this.#searched.count(inboxId, filter, kind), expected.length);
      await this.#askThreads(inboxId, filter, question);
    }
  }

  #filterOf({ query, all, none, subject, after }: Question): MessageFilter {
    const at = after === null ? undefined : this.#all[after % Math.max(1, this.#all.length)]?.at;
    return normaliseFilter(
      { all, any: [], none },
      {
        query,
        ...(subject === null ? {} : { subject }),
        ...(at === undefined ? {} : { after: new Date(at).toISOString() }),
      },
    );
  }

  /** Oldest first. */
  #found(inboxId: InboxId, filter: MessageFilter, kind: MessageKind): ModelMessage[] {
    return this.#messages.filter(
      message =>
        message.inboxId === inboxId && message.kind === kind && !message.isTrashed && meets(message, filter),
    );
  }

  /** What the index has not taken in stands first, then the best. */
  #compareOrder(
    inboxId: InboxId,
    filter: MessageFilter,
    kind: MessageKind,
    expected: readonly ModelMessage[],
    found: readonly MessageId[],
  ): void {
    if (this.#scores === 'unknown') {
      assert.deepEqual([...found].sort(), expected.map(({ id }) => id).sort());
      return;
    }
    const tail = this.#searched.house.store.read(reader =>
      listUnindexed(reader, { inboxId, kind }, 1_000).map(({ seq }) => seq),
    );
    const score = (message: ModelMessage) =>
      tail.includes(message.seq) ? Number.POSITIVE_INFINITY : scoreOf(wordsOf(message), filter.terms);
    const ranked = [...expected].sort((a, b) => {
      const [one, other] = [score(a), score(b)];
      return one === other ? b.seq - a.seq : other - one;
    });
    assert.deepEqual(
      found,
      ranked.map(({ id }) => id),
    );
  }

  async #askThreads(inboxId: InboxId, filter: MessageFilter, { order, limits }: Question): Promise<void> {
    const { house, deps } = this.#searched;
    const found: { ids: readonly string[]; count: number; latest: string }[] = [];
    let cursor: string | null = null;
    for (let at = 0; at === 0 || cursor !== null; at++) {
      const limit = limits[at % limits.length]!;
      const page = await searchThreads(deps, {
        accountId: house.account,
        ...{ inboxId, filter, order, limit, cursor },
      });
      for (const thread of page.threads) {
        found.push({
          ids: thread.matching_message_ids!,
          count: thread.matching_message_count!,
          latest: thread.latest_message.id,
        });
      }
      cursor = page.next_cursor;
    }
    const expected = this.#threads(inboxId, filter);
    if (order === 'newest') expected.reverse();
    if (order === 'relevance') {
      const byLatest = (a: { latest: string }, b: { latest: string }) => (a.latest < b.latest ? -1 : 1);
      expected.sort(byLatest);
      found.sort(byLatest);
    }
    assert.deepEqual(found, expected);
  }

  /** By their latest message, oldest first. */
  #threads(inboxId: InboxId, filter: MessageFilter) {
    const live = this.#messages.filter(message => message.inboxId === inboxId && !message.isTrashed);
    live.sort((a, b) => a.at - b.at || (a.kind === b.kind ? a.seq - b.seq : a.kind === 'received' ? -1 : 1));
    return [...new Set(live.map(({ conversation }) => conversation))]
      .map(conversation => live.filter(message => message.conversation === conversation))
      .sort((a, b) => live.indexOf(a.at(-1)!) - live.indexOf(b.at(-1)!))
      .flatMap(members => {
        const matching = members.filter(message => meets(message, filter)).reverse();
        return matching.length === 0
          ? []
          : [
              {
                ids: matching.map(({ id }) => id),
                count: matching.length,
                latest: members.at(-1)!.id,
              },
            ];
      });
  }
}

function wordsOf({ subject, text }: ModelMessage) {
  return messageWordsAtOnce({ subject, text, html: null });
}

function meets(message: ModelMessage, { labels, subject, after, terms }: MessageFilter): boolean {
  const { subject: ofSubject, body } = wordsOf(message);
  return (
    fits([ofSubject, body], terms) &&
    labels.all.every(label => message.labels.has(label)) &&
    !labels.none.some(label => message.labels.has(label)) &&
    (subject === null || foldCase(message.subject).includes(subject)) &&
    (after === null || message.at >= after)
  );
}
