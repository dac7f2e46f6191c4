import type { Test } from 'tap';
import type { AccountId, InboxId, MessageId } from '../../../../src/domain/ids.js';
import { type MessageFilter, NO_FILTER, normaliseFilter } from '../../../../src/domain/message-filter.js';
import type { MessageKind } from '../../../../src/store/mailbox/folders.js';
import type { ListOrder } from '../../../../src/usecases/mailbox/list-messages.js';
import { countHits } from '../../../../src/usecases/search/count-hits.js';
import { Rankings } from '../../../../src/usecases/search/rankings.js';
import { type SearchDeps, searchMessages } from '../../../../src/usecases/search/search-messages.js';
import type { WordIndex } from '../../../../src/usecases/search/word-index.js';
import { NaiveIndex } from '../../../support/search/naive-index.js';
import { type House, withHouse } from '../with-house.js';
import { index, parsed } from '../with-parser.js';
import { putSent } from '../with-sent.js';

export interface MailTexts {
  readonly subject?: string;
  readonly text: string;
  /** The Message-ID of the conversation that it belongs to, without brackets. */
  readonly conversation?: string;
  readonly labels?: readonly string[];
}

/** The index of a test. */
export interface SearchedIndex extends WordIndex, Pick<NaiveIndex, 'takeIn'> {
  dieAmidTakingIn(isTaken: boolean): Promise<void>;
  loseAndHeal(accountId: AccountId): Promise<void>;
}

/** Mail that can be searched, with an index that takes it in when it is told to. */
export class SearchedHouse<Index extends SearchedIndex = NaiveIndex> {
  readonly house: House;
  readonly index: Index;
  readonly deps: SearchDeps;

  constructor(house: House, index: Index, rankings = new Rankings()) {
    this.house = house;
    this.index = index;
    this.deps = { store: house.store, cursors: house.cursors, index, rankings };
  }

  /** Takes in what the index lags behind by. */
  takeIn(limit?: number): Promise<void> {
    return this.index.takeIn(this.house.store, this.house.account, limit);
  }

  /** A message that is ready, and that the index has not taken in yet. */
  async receive(inboxId: InboxId, texts: MailTexts): Promise<MessageId> {
    const id = await this.house.receive('raw', inboxId);
    await this.publish(id, texts);
    return id;
  }

  async publish(id: MessageId, texts: MailTexts): Promise<void> {
    const { subject = 'Hello', text, conversation } = texts;
    const references = conversation === undefined ? [] : [conversation];
    const ids = { messageId: null, references, inReplyTo: [] };
    await index(this.house, id, parsed({ subject, text }, { subject, messageId: null, ids }));
  }

  async send(inboxId: InboxId, texts: MailTexts): Promise<MessageId> {
    const { subject = 'Hello', text, conversation, labels = [] } = texts;
    const references = conversation === undefined ? [] : [conversation];
    const fields = { subject, text, references, labels };
    return (await putSent(this.house.store, inboxId, this.house.now.ms, fields)).id;
  }

  /** Ids of a whole list, page by page. */
  async list(
    inboxId: InboxId,
    query: string | MessageFilter,
    asked: Partial<Asked> = {},
  ): Promise<MessageId[]> {
    const { order = 'newest', limits = [100], kind = 'received' } = asked;
    const filter = typeof query === 'string' ? words(query) : query;
    const ids: MessageId[] = [];
    let cursor: string | null = null;
    for (let at = 0; at === 0 || cursor !== null; at++) {
      const limit = limits[at % limits.length]!;
      const input = { accountId: this.house.account, inboxId, kind, filter, order, limit, cursor };
      const page = await searchMessages(this.deps, input);
      ids.push(...page.summaries.map(summary => (JSON.parse(summary.toString()) as { id: MessageId }).id));
      cursor = page.nextCursor;
    }
    return ids;
  }

  count(inboxId: InboxId, query: string | MessageFilter, kind: MessageKind = 'received'): Promise<number> {
    const filter = typeof query === 'string' ? words(query) : query;
    return countHits(this.deps, { accountId: this.house.account, inboxId, kind, filter });
  }
}

export interface Asked {
  readonly order: ListOrder;
  /** Sizes of the pages, in turn. */
  readonly limits: readonly number[];
  readonly kind: MessageKind;
}

/** The filter that looks for these words alone. */
export function words(query: string): MessageFilter {
  return { ...NO_FILTER, ...normaliseFilter({ all: [], any: [], none: [] }, { query }) };
}

export async function withSearch(t: Test): Promise<SearchedHouse & { readonly inbox: InboxId }> {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  return Object.assign(new SearchedHouse(house, new NaiveIndex()), { inbox });
}
