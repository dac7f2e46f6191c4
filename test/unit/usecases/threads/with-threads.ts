import type { Test } from 'tap';
import type { ThreadSummary } from '../../../../src/contract/threads.js';
import type { InboxId, MessageId } from '../../../../src/domain/ids.js';
import { type MessageFilter, NO_FILTER } from '../../../../src/domain/message-filter.js';
import type { PreparedContent } from '../../../../src/usecases/ports.js';
import { listThreads } from '../../../../src/usecases/threads/list-threads.js';
import { getThreadDetail } from '../../../../src/usecases/threads/read-thread.js';
import type { House } from '../with-house.js';
import { index, parsed } from '../with-parser.js';

/** Takes a message in and parses it; `own` and `references` are Message-IDs without brackets. */
export async function letter(
  house: House,
  inboxId: InboxId,
  own: string | null,
  references: readonly string[] = [],
  more: { readonly content?: object; readonly fields?: Partial<PreparedContent> } = {},
): Promise<MessageId> {
  const id = await house.receive('raw', inboxId);
  await parseLetter(house, id, own, references, more);
  return id;
}

export async function parseLetter(
  house: House,
  id: MessageId,
  own: string | null,
  references: readonly string[] = [],
  {
    content = {},
    fields = {},
  }: { readonly content?: object; readonly fields?: Partial<PreparedContent> } = {},
): Promise<void> {
  const ids = { messageId: own, references, inReplyTo: [] };
  await index(house, id, parsed(content, { ids, messageId: own === null ? null : `<${own}>`, ...fields }));
}

/** The conversations of an inbox, the latest first. */
export async function threadsOf(
  house: House,
  inboxId: InboxId,
  filter: MessageFilter = NO_FILTER,
): Promise<readonly ThreadSummary[]> {
  const input = {
    accountId: house.account,
    inboxId,
    filter,
    order: 'newest',
    limit: 100,
    cursor: null,
  } as const;
  return (await listThreads(house, input)).threads;
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the answer holds
export type Detail = any;

/** A page of a conversation. */
export async function detailOf(
  house: House,
  threadId: string,
  page: { readonly limit?: number; readonly cursor?: string | null } = {},
): Promise<Detail> {
  const { limit = 100, cursor = null } = page;
  const detail = getThreadDetail(house, { accountId: house.account, threadId, limit, cursor });
  const parts: Uint8Array[] = [];
  for await (const part of detail.bytes) parts.push(Buffer.from(part));
  const body = Buffer.concat(parts);
  if (body.length !== detail.size) throw new Error(`${body.length} bytes, announced as ${detail.size}`);
  return JSON.parse(body.toString());
}

export const idsOf = (detail: Detail): string[] => detail.messages.map(({ id }: { id: string }) => id);

/** Every item and no more: a pattern alone would let more pass. */
export function matchAll(
  t: Test,
  found: readonly unknown[],
  pattern: readonly object[],
  what = 'items',
): void {
  t.equal(found.length, pattern.length, `${what}: how many`);
  t.match(found, pattern, what);
}
