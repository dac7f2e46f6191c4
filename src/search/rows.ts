import { placeOfRow, rowOf } from '../store/records/search.js';
import type { WordQuestion } from '../usecases/search/word-index.js';

/** A question about a folder, as one about rows of the index of its account. */
export function rowsOf({ folderNumber, terms, from, to, only }: WordQuestion) {
  return {
    terms,
    from: rowOf(folderNumber, from),
    to: rowOf(folderNumber, to),
    ...(only === undefined ? {} : { only: Float64Array.from(only, seq => rowOf(folderNumber, seq)) }),
  };
}

/** The sequence numbers of rows of one folder. */
export function seqsOf(rows: ArrayLike<number>): Uint32Array {
  return Uint32Array.from(rows, row => placeOfRow(row).seq);
}
