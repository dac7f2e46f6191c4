import { refuse } from '../../domain/errors.js';
import type { CursorCodec } from '../../domain/paging.js';
import { KIND_BYTE, messageKindOf } from '../../store/mailbox/mailboxes.js';
import type { MemberPosition } from '../../store/threads/members.js';

/** A cursor for the position of a message among all of an inbox. */
export function encodePosition(cursors: CursorCodec, scope: string, position: MemberPosition): string {
  return cursors.encodeText(scope, [position.at, KIND_BYTE[position.kind], position.seq].join(' '));
}

/** The position of a cursor, null without one. */
export function decodePosition(
  cursors: CursorCodec,
  scope: string,
  cursor: string | null,
): MemberPosition | null {
  if (cursor === null) return null;
  const text = cursors.decodeText(scope, cursor);
  const [at = Number.NaN, kindByte, seq = Number.NaN] = (text ?? '').split(' ').map(Number);
  const kind = messageKindOf(kindByte);
  if (text === null || kind === undefined)
    throw refuse('invalid_cursor', 'The cursor does not belong to this list: start again without one.');
  return { at, kind, seq };
}
