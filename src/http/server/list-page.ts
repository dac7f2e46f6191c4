import type { MESSAGE_OPERATIONS } from '../../contract/messages.js';
import type { CursorCodec } from '../../domain/paging.js';
import type { Store } from '../../store/engine/store.js';
import type { MessageKind } from '../../store/mailbox/mailboxes.js';
import {
  type ListInput,
  listMessages,
  listVersion,
  type MessagePage,
} from '../../usecases/mailbox/list-messages.js';
import { readFilter, readOrder, readPage } from './query.js';
import { inboxOf, jsonBytes, type Reply, type RequestOf } from './route.js';

export interface ListPageDeps {
  readonly store: Store;
  readonly cursors: CursorCodec;
  readonly pages: PageCache;
}

type ListRequest = RequestOf<(typeof MESSAGE_OPERATIONS)['listMessages']>;

/** A page of an inbox's messages of one kind; as long as nothing has changed, as it was encoded before. */
export function listPage(deps: ListPageDeps, kind: MessageKind, request: ListRequest): Reply<never> {
  const input = { ...inboxOf(request), kind };
  const version = listVersion(deps, input);
  // Of one account: that the inbox is its own has been seen when the page was made.
  const key = `${kind} ${input.accountId} ${input.inboxId}?${request.queryText}`;
  const known = version === null ? undefined : deps.pages.get(key, version);
  if (known !== undefined) return pageReply(known);
  const asked = readListQuery(request.query);
  const page = listMessages(deps, { ...input, ...asked });
  const bytes = encodePage(page);
  // Read in the same event turn, so of the same snapshot.
  if (version !== null) deps.pages.set(key, version, bytes);
  return pageReply(bytes);
}

/** What a list with conditions is asked for. */
export type ListQuery = Pick<ListInput, 'filter' | 'order' | 'limit' | 'cursor'>;

export function readListQuery(query: ListRequest['query']): ListQuery {
  const page = readPage(query);
  const order = readOrder(query);
  const filter = readFilter(query);
  return { ...page, order, filter };
}

/** A page that has been encoded. */
export function pageReply(bytes: Buffer): Reply<never> {
  return jsonBytes({ size: bytes.length, bytes: [bytes] });
}

const OPEN = Buffer.from('{"messages":[');
const COMMA = Buffer.from(',');

/** Joins the stored summaries: a list is never decoded and encoded again. */
function encodePage(page: MessagePage): Buffer {
  const parts: Buffer[] = [OPEN];
  for (const [index, summary] of page.summaries.entries()) {
    if (index > 0) parts.push(COMMA);
    parts.push(summary);
  }
  parts.push(Buffer.from(`],"next_cursor":${JSON.stringify(page.nextCursor)}}`));
  return Buffer.concat(parts);
}

/**
 * Answers to lists that were asked for lately. Each is good for one version (`listVersion`), which the store
 * counts up with every change, whatever process makes it; agents that ask for news again and again mostly
 * hear that there is none. Bounded in bytes; what was not asked for longest goes first.
 */
export class PageCache {
  readonly #maxBytes: number;
  readonly #pages = new Map<string, { readonly version: string; readonly bytes: Buffer }>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(key: string, version: string): Buffer | undefined {
    const page = this.#pages.get(key);
    if (page?.version !== version) return undefined;
    this.#pages.delete(key);
    this.#pages.set(key, page);
    return page.bytes;
  }

  set(key: string, version: string, bytes: Buffer): void {
    this.#remove(key);
    this.#pages.set(key, { version, bytes });
    this.#bytes += sizeOf(key, bytes);
    for (const oldest of this.#pages.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    const page = this.#pages.get(key);
    if (page === undefined) return;
    this.#pages.delete(key);
    this.#bytes -= sizeOf(key, page.bytes);
  }
}

/** About what an entry takes, the objects around it included. */
function sizeOf(key: string, bytes: Buffer): number {
  return bytes.length + 2 * key.length + 200;
}
