import type { ErrorCode } from '../../contract/errors.js';
import { refuse } from '../../domain/errors.js';
import { type Id, toId } from '../../domain/ids.js';
import type { CursorCodec } from '../../domain/paging.js';
import { KIND_BYTE, messageKindOf } from '../../store/mailbox/folders.js';
import type { MemberPosition } from '../../store/threads/members.js';

/** The cursors of one list: encodes a position as a cursor, and decodes it again. */
export interface Cursors<Position> {
  write(position: Position): string;
  /** Null for a text that is no cursor of this list. */
  read(cursor: string): Position | null;
  /** Code of the refusal of such a text; `invalid_cursor` by default. */
  readonly invalid?: ErrorCode;
}

/** What of a list is asked for. */
export interface PageInput {
  /** At most so many items. */
  readonly limit: number;
  /** The `next_cursor` of the page before; null for the first page. */
  readonly cursor: string | null;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Null at the end of the list. */
  readonly next_cursor: string | null;
}

/** Where a page begins: after this position, or at the start of the list (null). Refuses a cursor of another list. */
export function startOf<Position>(cursors: Cursors<Position>, cursor: string | null): Position | null {
  if (cursor === null) return null;
  const position = cursors.read(cursor);
  if (position !== null) return position;
  throw refuse(
    cursors.invalid ?? 'invalid_cursor',
    'The cursor does not belong to this list with these conditions and this order: start again without one.',
  );
}

/** The cursor of what comes after a position; null at the end of the list. */
export function nextCursor<Position>(cursors: Cursors<Position>, next: Position | null): string | null {
  return next === null ? null : cursors.write(next);
}

/**
 * Bytes of a page of a list, about: senders can make an entry of a hundred kilobytes. A page that would have more ends
 * early, with a cursor.
 */
export const MAX_PAGE_BYTES = 2 ** 20;

/** The first items that fit on a page; never none, so that whoever goes on gets on. */
export function fitting<Item>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  maxBytes = MAX_PAGE_BYTES,
): readonly Item[] {
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    bytes += sizeOf(item);
    if (bytes > maxBytes && index > 0) return items.slice(0, index);
  }
  return items;
}

/**
 * One page of a list.
 * @param scan the items after a position, or from the start of the list without one, at most `limit`
 * @param positionOf where an item stands in the list
 * @param fit the first items that fit on a page (`fitting`), for items whose size others choose
 */
export function page<Item, Position>(
  cursors: Cursors<Position>,
  { limit, cursor }: PageInput,
  scan: (after: Position | null, limit: number) => readonly Item[],
  positionOf: (item: Item) => Position,
  fit: (items: readonly Item[]) => readonly Item[] = items => items,
): Page<Item> {
  const found = scan(startOf(cursors, cursor), limit + 1);
  const items = fit(found.slice(0, limit));
  const last = items.at(-1);
  const hasMore = found.length > items.length && last !== undefined;
  return { items, next_cursor: hasMore ? cursors.write(positionOf(last)) : null };
}

/** Of a list in the order of a number of at most 48 bits. */
export function numberCursors(codec: CursorCodec, scope: string): Cursors<number> {
  return {
    write: position => codec.encode(scope, position),
    read: cursor => codec.decode(scope, cursor),
  };
}

/** Of a list in the order of a short text. */
export function textCursors(codec: CursorCodec, scope: string): Cursors<string> {
  return {
    write: position => codec.encodeText(scope, position),
    read: cursor => codec.decodeText(scope, cursor),
  };
}

/** Of a list in the order of ids, which is that of creation. */
export function idCursors<OfId extends Id<string>>(codec: CursorCodec, scope: string): Cursors<OfId> {
  return {
    write: id => codec.encodeText(scope, id),
    read: cursor => toId<OfId>(codec.decodeText(scope, cursor) ?? ''),
  };
}

/** Of a list of messages of both kinds in the order of their time. */
export function memberCursors(codec: CursorCodec, scope: string): Cursors<MemberPosition> {
  return {
    write: ({ at, kind, seq }) => codec.encodeText(scope, [at, KIND_BYTE[kind], seq].join(' ')),
    read: cursor => {
      const text = codec.decodeText(scope, cursor);
      const [at = Number.NaN, kindByte, seq = Number.NaN] = (text ?? '').split(' ').map(Number);
      const kind = messageKindOf(kindByte);
      return text === null || kind === undefined ? null : { at, kind, seq };
    },
  };
}

/** Of a list that only an admin sees: the id itself. */
export function plainCursors<OfId extends Id<string>>(): Cursors<OfId> {
  return { write: id => id, read: cursor => toId<OfId>(cursor) };
}
