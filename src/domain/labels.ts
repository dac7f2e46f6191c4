import { fail, ok, type Result } from './errors.js';

/** A label: 1 to 128 bytes of UTF-8 after trimming, case-sensitive, without control characters (specification, Label). */
export const MAX_LABEL_BYTES = 128;
/** Names in one array of a change, and in one group of a filter. */
export const MAX_LABELS = 32;

const CONTROL = /\p{Cc}/u;

/** Trims and checks one label name. */
export function normaliseLabel(text: string): Result<string> {
  const label = text.trim();
  if (label === '') return fail('invalid_labels', 'A label must not be blank.');
  if (!label.isWellFormed() || CONTROL.test(label)) {
    return fail('invalid_labels', 'A label must be well-formed Unicode without control characters.');
  }
  if (Buffer.byteLength(label) > MAX_LABEL_BYTES) {
    return fail('invalid_labels', `A label may have at most ${MAX_LABEL_BYTES} bytes of UTF-8.`);
  }
  return ok(label);
}

/** A set of labels in binary order of their UTF-8 bytes; `what` is named in errors. */
export function normaliseLabels(what: string, names: readonly string[]): Result<readonly string[]> {
  if (names.length > MAX_LABELS)
    return fail('invalid_labels', `${what} may have at most ${MAX_LABELS} labels.`);
  const labels = new Set<string>();
  for (const name of names) {
    const label = normaliseLabel(name);
    if (!label.ok) return label;
    labels.add(label.value);
  }
  return ok(sortLabels(labels));
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
export function normaliseLabelChange(add: readonly string[], remove: readonly string[]): Result<LabelChange> {
  const added = normaliseLabels('add_labels', add);
  if (!added.ok) return added;
  const removed = normaliseLabels('remove_labels', remove);
  if (!removed.ok) return removed;
  if (added.value.length + removed.value.length === 0) {
    return fail('invalid_labels', 'Give at least one label in add_labels or remove_labels.');
  }
  const both = added.value.find(label => removed.value.includes(label));
  if (both !== undefined) {
    return fail('invalid_labels', `${JSON.stringify(both)} is in add_labels and in remove_labels.`);
  }
  return ok({ add: added.value, remove: removed.value });
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
