import type { MESSAGE_OPERATIONS } from '../../contract/messages.js';
import type { MessageId } from '../../domain/ids.js';
import { idField, type MessageKind } from '../../store/mailbox/folders.js';
import {
  type ListInput,
  listMessages,
  listVersion,
  type MessagePage,
} from '../../usecases/mailbox/list-messages.js';
import { previewsOf } from '../../usecases/mailbox/previews.js';
import { type SearchDeps, searchMessages } from '../../usecases/search/search-messages.js';
import { readFilter, readInclude, readOrder, readPage } from './query.js';
import { inboxOf, jsonBytes, type Reply, type RequestOf } from './route.js';

export interface ListPageDeps extends SearchDeps {
  readonly pages: PageCache;
}

type ListRequest = RequestOf<(typeof MESSAGE_OPERATIONS)['listMessages']>;

/** A page of an inbox's messages of one kind; taken from the cache as long as nothing has changed. */
export function listPage(
  deps: ListPageDeps,
  kind: MessageKind,
  request: ListRequest,
): Reply<never> | Promise<Reply<never>> {
  const { accountId, inboxId } = inboxOf(request);
  // Written out: spreading would cost half of what a page from the cache does.
  const input = { accountId, inboxId, kind };
  const version = listVersion(deps, input);
  // The account is part of the key: that it owns the inbox was checked when the page was made.
  const key = `${kind} ${accountId} ${inboxId}?${request.queryText}`;
  const known = version === null ? undefined : deps.pages.get(key, version);
  if (known !== undefined) return pageReply(known);
  const asked = readListQuery(request.query);
  const hasPreviews = readInclude(request.query, 'preview');
  if (asked.filter.terms.length > 0) {
    return searchPage(deps, { ...input, ...asked }, hasPreviews, { key, version });
  }
  const page = listMessages(deps, { ...input, ...asked });
  const bytes = encodePage(deps, page, hasPreviews);
  // Version and page were read in the same event turn, so from the same snapshot.
  if (version !== null) deps.pages.set(key, version, bytes);
  return pageReply(bytes);
}

async function searchPage(
  deps: ListPageDeps,
  input: ListInput,
  hasPreviews: boolean,
  cached: { readonly key: string; readonly version: string | null },
): Promise<Reply<never>> {
  const bytes = encodePage(deps, await searchMessages(deps, input), hasPreviews);
  // The index was waited for. An order by relevance is of its moment, and its next pages are not kept for ever.
  const { key, version } = cached;
  if (version !== null && input.order !== 'relevance' && listVersion(deps, input) === version) {
    deps.pages.set(key, version, bytes);
  }
  return pageReply(bytes);
}

/** Filter, order and page of a list. */
export type ListQuery = Pick<ListInput, 'filter' | 'order' | 'limit' | 'cursor'>;

export function readListQuery(query: ListRequest['query']): ListQuery {
  const page = readPage(query);
  const order = readOrder(query);
  const filter = readFilter(query);
  return { ...page, order, filter };
}

/** A 200 answer of JSON that has been encoded already. */
export function pageReply(bytes: Buffer): Reply<never> {
  return jsonBytes({ size: bytes.length, bytes: [bytes] });
}

/** The answer to who waited for a message; null: none came. */
export function waitedReply(
  deps: Pick<ListPageDeps, 'store'>,
  found: { readonly message: Buffer | null; readonly nextSince: string },
  hasPreviews: boolean,
): Reply<never> {
  const page = { summaries: found.message === null ? [] : [found.message], nextCursor: null };
  const list = encodePage(deps, page, hasPreviews);
  const rest = Buffer.from(`,"next_since":${JSON.stringify(found.nextSince)}}`);
  return pageReply(Buffer.concat([list.subarray(0, -1), rest]));
}

const OPEN = Buffer.from('{"messages":[');
const COMMA = Buffer.from(',');

function idOf(summary: Buffer): MessageId | null {
  return idField<MessageId>(summary, 'id');
}

/** Joins the summaries as they are stored, in JSON, without decoding and encoding them again. */
function encodePage(deps: Pick<ListPageDeps, 'store'>, page: MessagePage, hasPreviews: boolean): Buffer {
  const previews = hasPreviews ? previewsOf(deps, page.summaries.map(idOf)) : null;
  const parts: Buffer[] = [OPEN];
  for (const [index, summary] of page.summaries.entries()) {
    if (index > 0) parts.push(COMMA);
    if (previews === null) parts.push(summary);
    // In place of the brace that ends the entry.
    else parts.push(summary.subarray(0, -1), Buffer.from(`,"preview":${previews[index]}}`));
  }
  parts.push(Buffer.from(`],"next_cursor":${JSON.stringify(page.nextCursor)}}`));
  return Buffer.concat(parts);
}

/**
 * A least-recently-used cache of encoded list pages, bounded in bytes: agents poll, and mostly nothing is new. An
 * entry is valid for one version (`listVersion`), which the store increases with every change by any process.
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

/** About how many bytes of memory an entry takes, with the objects around it. */
function sizeOf(key: string, bytes: Buffer): number {
  return bytes.length + 2 * key.length + 200;
}
