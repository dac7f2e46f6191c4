import {
  type Combination,
  CombinationMask,
  type Counted,
  countMembers,
  type Selected,
  selectMembers,
} from '../bitmap/combinations.js';
import type { NumberSet } from '../bitmap/number-set.js';
import type { Reader } from '../engine/tables.js';
import { type Folder, getCounters, type Numbers } from './folders.js';
import { type Term, termKey } from './postings.js';

/**
 * Which messages of a folder: those in every set of `all`, in at least one of `any` (when it is not empty), in none of
 * `none`, with numbers from `from` up to but not including `to` that are in none of the gaps. For speed the most selective sets come first: the
 * smallest of `all`, the largest of `any` and `none`.
 */
export interface Selection {
  readonly all: readonly Term[];
  readonly any: readonly Term[];
  readonly none: readonly Term[];
  readonly from: number;
  readonly to: number;
  readonly gaps?: readonly Numbers[];
  /** Only messages of this set, when there is one. */
  readonly within?: NumberSet;
}

/**
 * The first `limit` messages of a selection, newest or oldest first; the walk is bounded (`selectMembers`).
 * @param blocks those to look at, in ascending order, where they are known
 */
export function selectMessages(
  reader: Reader,
  folder: Folder,
  selection: Selection,
  page: { readonly isDescending: boolean; readonly limit: number },
  blocks?: readonly number[],
): Selected {
  return selectMembers(reader, combinationOf(reader, folder, selection), page, blocks);
}

/** Counts a selection, from the oldest message on; the walk is bounded (`countMembers`). */
export function countSelected(reader: Reader, folder: Folder, selection: Selection): Counted {
  return countMembers(reader, combinationOf(reader, folder, selection));
}

/** Tests messages of a folder against a selection, in any order. Valid as long as the reader. */
export function maskOf(reader: Reader, folder: Folder, selection: Selection): CombinationMask {
  return new CombinationMask(reader, combinationOf(reader, folder, selection));
}

function combinationOf(reader: Reader, folder: Folder, selection: Selection): Combination {
  const { all, any, none, from, to, gaps, within } = selection;
  const keysOf = (terms: readonly Term[]): Buffer[] => terms.map(term => termKey(folder, term));
  // Only live messages are in sets other than `gone`; without `all` and `any` those that are gone must be excluded.
  const without: readonly Term[] = all.length + any.length === 0 ? [{ type: 'gone' }, ...none] : none;
  return {
    all: keysOf(all),
    any: keysOf(any),
    none: keysOf(without),
    from,
    to,
    ...(gaps === undefined ? {} : { gaps }),
    ...(within === undefined ? {} : { within }),
    version: getCounters(reader, folder).version,
  };
}
