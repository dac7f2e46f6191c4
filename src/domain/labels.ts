import { MAX_LABEL_BYTES, MAX_LABELS, MAX_LABELS_OF_MESSAGE } from '../contract/limits.js';
import { refuse } from './errors.js';
import { type LineFault, lineFaultOf, trimmed } from './text.js';

const UNFIT = 'A label must be well-formed Unicode without control characters.';
const LABEL_FAULTS: Record<LineFault, string> = {
  control: UNFIT,
  ill_formed: UNFIT,
  too_long: `A label may have at most ${MAX_LABEL_BYTES} bytes of UTF-8.`,
};

/**
 * Trims and checks one label name; letter case counts.
 * @throws `invalid_labels`
 */
export function normaliseLabel(text: string): string {
  const label = trimmed(text);
  if (label === null) throw refuse('invalid_labels', 'A label must not be blank.');
  const fault = lineFaultOf(label, MAX_LABEL_BYTES);
  if (fault !== null) throw refuse('invalid_labels', LABEL_FAULTS[fault]);
  return label;
}

/**
 * Trims and checks a list of labels.
 * @param what the name of the list, for the refusal
 * @returns each label once, sorted by `sortLabels`
 * @throws `invalid_labels`
 */
export function normaliseLabels(what: string, names: readonly string[]): readonly string[] {
  if (names.length > MAX_LABELS) {
    throw refuse('invalid_labels', `${what} may have at most ${MAX_LABELS} labels.`);
  }
  return sortLabels(new Set(names.map(normaliseLabel)));
}

/** Sorts by UTF-8 bytes. That is the order of code points; JavaScript compares UTF-16 units, which differs. */
export function sortLabels(labels: Iterable<string>): string[] {
  return [...labels].sort(compareLabels);
}

function compareLabels(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [one, other] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (one !== other) return rank(one) - rank(other);
  }
  return a.length - b.length;
}

/** The place of a UTF-16 unit in the order of code points: surrogates come behind all other units. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Labels to add and to remove; no label is in both. */
export interface LabelChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/**
 * Checks a change of labels: at least one label, and none both added and removed.
 * @throws `invalid_labels`
 */
export function normaliseLabelChange(
  add: readonly string[] = [],
  remove: readonly string[] = [],
): LabelChange {
  const added = normaliseLabels('add_labels', add);
  const removed = normaliseLabels('remove_labels', remove);
  if (added.length + removed.length === 0) {
    throw refuse('invalid_labels', 'Give at least one label in add_labels or remove_labels.');
  }
  const both = added.find(label => removed.includes(label));
  if (both !== undefined) {
    throw refuse('invalid_labels', `${JSON.stringify(both)} is in add_labels and in remove_labels.`);
  }
  return { add: added, remove: removed };
}

/**
 * The labels of a message after a change, sorted.
 * @throws `invalid_labels` when it would have more than `MAX_LABELS_OF_MESSAGE`; one that has more may lose some
 */
export function applyLabelChange(labels: readonly string[], change: LabelChange): string[] {
  const after = new Set(labels);
  for (const label of change.remove) after.delete(label);
  for (const label of change.add) after.add(label);
  if (after.size > MAX_LABELS_OF_MESSAGE && after.size > labels.length) {
    throw refuse(
      'invalid_labels',
      `A message may have at most ${MAX_LABELS_OF_MESSAGE} labels, and this one would have ${after.size}; nothing was changed. Remove some first.`,
    );
  }
  return sortLabels(after);
}

/** Labels of the messages sought: all of `all`, at least one of `any` unless it is empty, and none of `none`. */
export interface LabelFilter {
  readonly all: readonly string[];
  readonly any: readonly string[];
  readonly none: readonly string[];
}

export const NO_LABEL_FILTER: LabelFilter = { all: [], any: [], none: [] };
