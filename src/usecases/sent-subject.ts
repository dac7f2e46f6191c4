import type { MessageId } from '../domain/ids.js';
import { foldCase } from '../domain/message-filter.js';
import type { Reader } from '../store/reader-writer.js';
import { getSent } from '../store/sent.js';

/** Does the subject of a sent message contain `subject` (folded already)? Its line in lists does not show it. */
export function sentHasSubject(reader: Reader, summary: Buffer, subject: string): boolean {
  const { id } = JSON.parse(summary.toString('utf8')) as { readonly id: MessageId };
  return foldCase(getSent(reader, id)?.subject ?? '').includes(subject);
}
