import { joinWords, messageWordsAtOnce } from '../domain/message-words.js';
import { reasonOf } from '../lib/async.js';
import { type AccountIndex, type RowChange, UnusableIndexError } from './account-index.js';
import { textsOfContent } from './content-texts.js';
import type { OpenIndexes } from './open-indexes.js';
import type {
  ApplyRequest,
  FindRequest,
  RankRequest,
  ThreadAnswer,
  ThreadChange,
  ToThread,
} from './protocol.js';

export interface Answered {
  readonly answer: ThreadAnswer;
  readonly transfer: ArrayBuffer[];
}

type Request = Exclude<ToThread, { readonly kind: 'end' }>;

/** Does what the main thread asks of the index of an account. Never throws. */
export function answerWith(indexes: OpenIndexes, request: Request): Answered {
  try {
    return answer(indexes, request);
  } catch (error) {
    // It may be in the middle of something: the next request opens it anew.
    closeQuietly(indexes, request.accountId);
    const kind = error instanceof UnusableIndexError ? 'lost' : 'failed';
    return { answer: { kind, reason: reasonOf(error) }, transfer: [] };
  }
}

function closeQuietly(indexes: OpenIndexes, accountId: string): void {
  try {
    indexes.close(accountId);
  } catch {
    // The file is gone or damaged.
  }
}

function answer(indexes: OpenIndexes, request: Request): Answered {
  switch (request.kind) {
    case 'apply':
      return { answer: { kind: 'applied', isErased: apply(indexes, request) }, transfer: [] };
    case 'check':
      indexes.getAt(request.accountId, request.mark);
      return { answer: { kind: 'sound' }, transfer: [] };
    case 'find':
    case 'rank':
      return search(indexes.get(request.accountId), request);
  }
}

function apply(indexes: OpenIndexes, { accountId, from, to, changes }: ApplyRequest): boolean {
  const index = from === 0 ? indexes.create(accountId) : indexes.getAt(accountId, from);
  return index.apply(changes.map(rowChange), { from, to });
}

function rowChange(change: ThreadChange): RowChange {
  if ('words' in change) return change;
  const { row, subject, content } = change;
  return { row, words: Buffer.from(joinWords(messageWordsAtOnce({ subject, ...textsOfContent(content) }))) };
}

function search(index: AccountIndex, request: FindRequest | RankRequest): Answered {
  if (!index.knows(request.mark)) return { answer: { kind: 'suspect' }, transfer: [] };
  const startedAt = performance.now();
  const found =
    request.kind === 'find'
      ? { ...index.find(request, request.isDescending, request.limit), scores: null }
      : index.rank(request, request.among);
  const rows = Float64Array.from(found.rows);
  const scores = found.scores === null ? null : Float64Array.from(found.scores);
  return {
    answer: { kind: 'found', rows, scores, isWhole: found.isWhole, tookMs: performance.now() - startedAt },
    transfer: scores === null ? [rows.buffer] : [rows.buffer, scores.buffer],
  };
}
