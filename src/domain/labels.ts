import { MAX_LABEL_BYTES, MAX_LABELS } from '../contract/limits.js';
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

/** A set of labels in binary order of their UTF-8 bytes; `what` is named in errors. */
export function normaliseLabels(what: string, names: readonly string[]): readonly string[] {
  if (names.length > MAX_LABELS)
    throw refuse('invalid_labels', `${what} may have at most ${MAX_LABELS} labels.`);
  const labels = new Set<string>();
  for (const name of names) {
    const label = normaliseLabel(name);
    labels.add(label);
  }
  return sortLabels(labels);
}

/** Binary order of UTF-8, which is the order of code points and not of UTF-16 code units. */
export function sortLabels(labels: Iterable<string>): string[] {
  return [...labels].sort(compareLabels);
}

function compareLabels(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** What a label update asks for; no label is in both sets. */
export interface LabelChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/** Checks a label update (specification, "Labels: update rules" 1). */
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

/** The labels after a change, in binary order. */
export function applyLabelChange(labels: readonly string[], change: LabelChange): string[] {
  const kept = labels.filter(label => !change.remove.includes(label));
  return sortLabels(new Set([...kept, ...change.add]));
}

/** Which labels a message must and must not have; the groups combine with AND (specification, Labels rule 4). */
export interface LabelFilter {
  readonly all: readonly string[];
  readonly any: readonly string[];
  readonly none: readonly string[];
}

export const NO_LABEL_FILTER: LabelFilter = { all: [], any: [], none: [] };
